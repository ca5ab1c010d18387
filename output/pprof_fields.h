// Field numbers of pprof's profile.proto (github.com/google/pprof, proto/profile.proto), for its
// writer and its reader.
#pragma once

#include <cstdint>

namespace lumbre::output::pprof {

namespace profile {
enum : std::uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
}

namespace value_type {
enum : std::uint32_t { kType = 1, kUnit = 2 };
}

namespace sample {
enum : std::uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
}

namespace label {
enum : std::uint32_t { kKey = 1, kText = 2, kNumber = 3, kNumberUnit = 4 };
}

namespace mapping {
enum : std::uint32_t {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};
}

namespace location {
enum : std::uint32_t { kId = 1, kMappingId = 2, kAddress = 3, kLine = 4 };
}

namespace line {
enum : std::uint32_t { kFunctionId = 1, kLine = 2, kColumn = 3 };
}

namespace function {
enum : std::uint32_t { kId = 1, kName = 2, kSystemName = 3, kFilename = 4, kStartLine = 5 };
}

}  // namespace lumbre::output::pprof
