// Profile: a finished profile, independent of any format; the only thing writers see.
//
// The words are pprof's (profile.proto): a sample is a stack of locations (leaf first) with one
// value per sample type and labels; a location is an address in a mapping with one line per
// inlined function, innermost first. Ids are indices into the tables below. Strings are interned:
// StringId 0 is "". One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/id_table.h"

namespace lumbre::output {

using StringId = std::uint32_t;
using MappingId = std::uint32_t;
using FunctionId = std::uint32_t;
using LocationId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;

// What a frame is; tells the colours apart.
enum class FrameKind : std::uint8_t {
  kPython,
  kNative,
  kKernel,
  kJit,
  kUnknown,
  kTruncated,
  kBlocked,   // no function: what the functions below it wait for
  kRunnable,  // no function: those below it are ready to run
};

struct ValueType {
  StringId type = 0;  // "cpu"
  StringId unit = 0;  // "nanoseconds"
};

struct Mapping {
  std::uint64_t memory_start = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t file_offset = 0;
  StringId filename = 0;
  StringId build_id = 0;
  bool has_functions = false, has_filenames = false, has_line_numbers = false,
       has_inline_frames = false;
};

struct Function {
  StringId name = 0;         // shortened for display
  StringId system_name = 0;  // whole
  StringId filename = 0;
  std::int64_t start_line = 0;
  bool operator==(const Function&) const = default;
};

struct Line {
  FunctionId function = kNone;
  std::int64_t line = 0;
  std::int64_t column = 0;
  bool operator==(const Line&) const = default;
};

struct Location {
  MappingId mapping = kNone;
  std::uint64_t address = 0;
  std::vector<Line> lines;  // innermost inlined function first; empty: not named
  FrameKind kind = FrameKind::kUnknown;
  bool operator==(const Location&) const = default;
};

struct Label {
  StringId key = 0;
  StringId text = 0;        // a text label, or
  std::int64_t number = 0;  // a number label (text == 0)
  StringId number_unit = 0;
  bool operator==(const Label&) const = default;
};

struct Sample {
  std::vector<LocationId> locations;  // leaf first
  std::vector<std::int64_t> values;   // one per sample type
  std::vector<Label> labels;          // no key twice
};

class Profile {
 public:
  Profile();
  // Movable only: a copy's table of strings would still point into the original.
  Profile(Profile&&) = default;
  Profile& operator=(Profile&&) = default;

  StringId intern(std::string_view text);
  const std::string& text(StringId id) const { return strings_[id]; }
  std::size_t string_count() const { return strings_.size(); }

  FunctionId add_function(const Function& function);  // equal ones share an id
  LocationId add_location(const Location& location);  // equal ones share an id
  MappingId add_mapping(const Mapping& mapping);      // always a new id

  std::vector<ValueType> sample_types;
  std::vector<Mapping> mappings;
  std::vector<Function> functions;
  std::vector<Location> locations;
  std::vector<Sample> samples;
  std::vector<StringId> comments;
  StringId default_sample_type = 0;
  ValueType period_type;
  std::int64_t period = 0;
  std::int64_t time_nanos = 0;  // of the recording's start, since the Unix epoch
  std::int64_t duration_nanos = 0;

  // Index of the sample type of that name; kNone when there is none. "" is the default one.
  std::uint32_t find_sample_type(std::string_view name) const;

 private:
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> string_ids_;
  IdTable function_ids_;
  IdTable location_ids_;
};

}  // namespace lumbre::output
