#include <algorithm>
#include <charconv>

#include "output/formats.h"
#include "output/frame_kinds.h"

namespace lumbre::output {
namespace {

// A frame's text taken apart: "name (file.py:12)_[k]".
struct FoldedFrame {
  std::string_view name;
  std::string_view file;
  std::int64_t line = 0;
  FrameKind kind = FrameKind::kNative;
  bool is_inlined = false;
};

bool take_ending(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

// py-spy's form of a frame: "name (file:line)".
void take_source(FoldedFrame& frame) {
  if (!frame.name.ends_with(')')) return;
  const std::size_t open = frame.name.rfind(" (");
  const std::size_t colon = frame.name.rfind(':');
  if (open == frame.name.npos || open == 0 || colon == frame.name.npos || colon < open) return;
  const std::string_view digits = frame.name.substr(colon + 1, frame.name.size() - colon - 2);
  const char* end = digits.data() + digits.size();
  const auto [stop, fault] = std::from_chars(digits.data(), end, frame.line);
  if (fault != std::errc() || stop != end) {
    frame.line = 0;
    return;
  }
  frame.file = frame.name.substr(open + 2, colon - open - 2);
  frame.name = frame.name.substr(0, open);
}

FoldedFrame parse_frame(std::string_view text) {
  FoldedFrame frame;
  frame.name = text;
  if (take_ending(frame.name, "_[k]")) {
    frame.kind = FrameKind::kKernel;
    return frame;
  }
  if (take_ending(frame.name, "_[j]")) {
    frame.kind = FrameKind::kJit;
    return frame;
  }
  frame.is_inlined = take_ending(frame.name, "_[i]");
  take_source(frame);
  frame.kind = judge_frame_kind({.name = frame.name, .source_file = frame.file});
  // How CPython names a file's top level; nothing else does.
  if (frame.name == "<module>") frame.kind = FrameKind::kPython;
  return frame;
}

class FoldedReader {
 public:
  FoldedReader() {
    profile_.sample_types.push_back({profile_.intern("samples"), profile_.intern("count")});
    profile_.default_sample_type = profile_.sample_types[0].type;
  }

  void read_line(std::string_view line);
  std::optional<Profile> finish(std::string* error);

 private:
  void read_stack(std::string_view stack, std::int64_t value);
  void add_frame(const FoldedFrame& frame);
  void end_location();

  Profile profile_;
  Sample sample_;      // its locations root first until the line is read
  Location location_;  // under construction, its lines outermost first
  std::int64_t skipped_lines_ = 0;
};

void FoldedReader::read_line(std::string_view line) {
  take_ending(line, "\r");
  if (line.empty() || line.front() == '#') return;
  const std::size_t space = line.find_last_of(" \t");
  std::int64_t value = 0;
  const char* end = line.data() + line.size();
  const char* digits = space == line.npos ? end : line.data() + space + 1;
  const auto [stop, fault] = std::from_chars(digits, end, value);
  if (fault != std::errc() || stop != end || space == 0) {
    ++skipped_lines_;
    return;
  }
  read_stack(line.substr(0, space), value);
}

void FoldedReader::read_stack(std::string_view stack, std::int64_t value) {
  while (!stack.empty()) {
    const std::size_t length = std::min(stack.find(';'), stack.size());
    if (length != 0) add_frame(parse_frame(stack.substr(0, length)));
    stack.remove_prefix(std::min(length + 1, stack.size()));
  }
  end_location();
  std::reverse(sample_.locations.begin(), sample_.locations.end());
  sample_.values.assign(1, value);
  profile_.samples.push_back(sample_);
  sample_.locations.clear();
}

// An inlined frame belongs to the location of the frame that it was inlined into.
void FoldedReader::add_frame(const FoldedFrame& frame) {
  const bool is_continued =
      frame.is_inlined && !location_.lines.empty() && location_.kind == frame.kind;
  if (!is_continued) end_location();
  location_.kind = frame.kind;
  Function function;
  function.name = profile_.intern(frame.name);
  function.system_name = function.name;
  function.filename = profile_.intern(frame.file);
  location_.lines.push_back({.function = profile_.add_function(function), .line = frame.line});
}

void FoldedReader::end_location() {
  if (location_.lines.empty()) return;
  std::reverse(location_.lines.begin(), location_.lines.end());
  sample_.locations.push_back(profile_.add_location(location_));
  location_.lines.clear();
}

std::optional<Profile> FoldedReader::finish(std::string* error) {
  if (profile_.samples.empty() && skipped_lines_ > 0) {
    if (error != nullptr) *error = "not folded stacks: no line ends in a space and a whole number";
    return std::nullopt;
  }
  if (skipped_lines_ > 0) {
    profile_.comments.push_back(profile_.intern(
        "folded: skipped " + std::to_string(skipped_lines_) + " lines without a count"));
  }
  return std::move(profile_);
}

}  // namespace

std::optional<Profile> read_folded(std::string_view text, std::string* error) {
  FoldedReader reader;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return reader.finish(error);
}

}  // namespace lumbre::output
