// Field numbers of the Perfetto trace format that are written here (github.com/google/perfetto,
// protos/perfetto/trace: trace_packet, clock_snapshot, ps/process_tree,
// interned_data/interned_data, profiling/profile_common, profiling/profile_packet,
// common/perf_events).
#pragma once

#include <cstdint>

namespace lumbre::output::perfetto {

inline constexpr std::uint32_t kTracePacket = 1;  // of the file itself

namespace packet {
enum : std::uint32_t {
  kProcessTree = 2,
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kPerfSample = 66,
  kFirstPacketOnSequence = 87,
};
enum : std::uint32_t { kStateCleared = 1, kNeedsState = 2 };  // sequence flags
}  // namespace packet

namespace clock_snapshot {
enum : std::uint32_t { kClocks = 1, kPrimaryClock = 2 };
enum : std::uint32_t { kClockId = 1, kTimestamp = 2 };                  // of one clock
enum : std::uint32_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6 };  // clock ids
}  // namespace clock_snapshot

namespace defaults {
enum : std::uint32_t { kPerfSample = 12 };
enum : std::uint32_t { kTimebase = 1 };                // of the perf sample defaults
enum : std::uint32_t { kCounter = 4, kName = 10 };     // of a timebase
inline constexpr std::uint32_t kSoftwareCpuClock = 1;  // a counter
}  // namespace defaults

namespace process_tree {
enum : std::uint32_t { kProcesses = 1, kThreads = 2 };
enum : std::uint32_t { kPid = 1, kCommandLine = 3 };
enum : std::uint32_t { kTid = 1, kThreadName = 2, kThreadPid = 3 };
}  // namespace process_tree

namespace interned {
enum : std::uint32_t {
  kFunctionNames = 5,
  kFrames = 6,
  kCallstacks = 7,
  kBuildIds = 16,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kMappings = 19,
};
enum : std::uint32_t { kIid = 1 };  // the first field of all of them
enum : std::uint32_t { kText = 2 };
enum : std::uint32_t { kMappingBuildId = 2, kMappingPathParts = 7 };
enum : std::uint32_t {
  kFrameFunctionName = 2,
  kFrameMapping = 3,
  kFrameRelativePc = 4,
  kFrameSourcePath = 5,
  kFrameLine = 6,
  kFrameKind = 7,
};
enum : std::uint32_t { kNativeFrame = 1, kKernelFrame = 2, kInterpretedFrame = 3, kJitFrame = 4 };
enum : std::uint32_t { kCallstackFrames = 2 };
}  // namespace interned

namespace perf_sample {
enum : std::uint32_t {
  kCpu = 1,
  kPid = 2,
  kTid = 3,
  kCallstack = 4,
  kCpuMode = 5,
  kTimebaseCount = 6,
};
enum : std::uint32_t { kModeKernel = 1, kModeUser = 2 };
}  // namespace perf_sample

}  // namespace lumbre::output::perfetto
