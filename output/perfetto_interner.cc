#include "output/perfetto_interner.h"

#include <algorithm>

#include "output/frame_kinds.h"
#include "output/perfetto_fields.h"
#include "output/utf8.h"

namespace lumbre::output {
namespace {

using namespace perfetto::interned;

// Mappings of frames without one follow the profile's: one for each kind of frame.
constexpr std::size_t kKinds = 6;

// A text build id is hexadecimal; the trace holds the bytes. Others are kept as they are.
std::string build_id_bytes(std::string_view text) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    const int high = digit(text[i]), low = digit(text[i + 1]);
    if (high < 0 || low < 0) return std::string(text);
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return text.size() % 2 == 0 ? bytes : std::string(text);
}

std::uint64_t frame_kind(FrameKind kind) {
  switch (kind) {
    case FrameKind::kPython:
      return kInterpretedFrame;
    case FrameKind::kNative:
      return kNativeFrame;
    case FrameKind::kKernel:
      return kKernelFrame;
    case FrameKind::kJit:
      return kJitFrame;
    case FrameKind::kUnknown:
    case FrameKind::kTruncated:
    case FrameKind::kBlocked:
    case FrameKind::kRunnable:
      break;
  }
  return 0;
}

}  // namespace

PerfettoInterner::PerfettoInterner(const Profile& profile,
                                   const std::vector<std::vector<LocationId>>& stacks)
    : profile_(profile),
      stacks_(stacks),
      written_stacks_(stacks.size() + 1),
      written_mappings_(profile.mappings.size() + kKinds),
      location_frames_(profile.locations.size() + 1),
      function_names_{kFunctionNames, {}},
      source_paths_{kSourcePaths, {}},
      mapping_paths_{kMappingPaths, {}},
      build_ids_{kBuildIds, {}} {}

std::uint64_t PerfettoInterner::callstack(std::uint32_t stack, ProtoWriter& data) {
  const std::size_t index = std::min<std::size_t>(stack, stacks_.size());
  // Perfetto's importers take callstack 1 for "counters without stacks", so ids start at 2.
  const std::uint64_t iid = index + 2;
  if (written_stacks_[index]) return iid;
  written_stacks_[index] = true;
  Ids frames;
  if (index < stacks_.size()) {
    const std::vector<LocationId>& locations = stacks_[index];
    for (std::size_t i = locations.size(); i-- > 0;) {
      const Ids& more = frames_of(locations[i], data);
      frames.insert(frames.end(), more.begin(), more.end());
    }
  }
  if (frames.empty()) frames = frames_of(kNone, data);
  message_.clear();
  message_.uint(kIid, iid);
  for (const std::uint64_t frame : frames) message_.uint(kCallstackFrames, frame);
  data.message(kCallstacks, message_);
  return iid;
}

const PerfettoInterner::Ids& PerfettoInterner::frames_of(LocationId id, ProtoWriter& data) {
  const std::size_t index = std::min<std::size_t>(id, profile_.locations.size());
  Ids& frames = location_frames_[index];
  if (frames.empty()) {
    frames = write_frames(
        index < profile_.locations.size() ? profile_.locations[index] : Location{}, data);
  }
  return frames;
}

PerfettoInterner::Ids PerfettoInterner::write_frames(const Location& location, ProtoWriter& data) {
  Ids frames;
  each_frame(profile_, location,
             [&](const FrameView& frame) { frames.push_back(write_frame(location, frame, data)); });
  return frames;
}

std::uint64_t PerfettoInterner::write_frame(const Location& location, const FrameView& frame,
                                            ProtoWriter& data) {
  const std::uint64_t name = text_id(function_names_, frame.name, data);
  const std::uint64_t path = frame.file.empty() ? 0 : text_id(source_paths_, frame.file, data);
  const std::uint64_t mapping = mapping_of(location, data);
  const std::uint64_t iid = ++last_frame_;
  message_.clear();
  message_.uint(kIid, iid);
  message_.uint(kFrameFunctionName, name);
  message_.uint(kFrameMapping, mapping);
  message_.uint(kFrameRelativePc, relative_pc(location, iid));
  message_.uint(kFrameSourcePath, path);
  if (frame.line > 0) message_.uint(kFrameLine, static_cast<std::uint32_t>(frame.line));
  message_.uint(kFrameKind, frame_kind(location.kind));
  data.message(kFrames, message_);
  return iid;
}

// The trace processor merges frames of one mapping, place and name whatever their lines are; a
// frame without a code address gets a place of its own, so that each Python line stays a frame.
std::uint64_t PerfettoInterner::relative_pc(const Location& location, std::uint64_t frame) const {
  if (location.kind == FrameKind::kPython || location.address == 0) return frame;
  if (location.mapping >= profile_.mappings.size()) return location.address;
  const Mapping& mapping = profile_.mappings[location.mapping];
  return location.address - mapping.memory_start + mapping.file_offset;
}

// The address range is left out: the profile's mappings are those of several processes at several
// times, and the trace processor ends itself on a process's overlapping ranges.
std::uint64_t PerfettoInterner::mapping_of(const Location& location, ProtoWriter& data) {
  const bool is_known = location.mapping < profile_.mappings.size();
  const std::size_t index =
      is_known ? location.mapping
               : profile_.mappings.size() + static_cast<std::size_t>(location.kind);
  const std::uint64_t iid = index + 1;
  if (written_mappings_[index]) return iid;
  written_mappings_[index] = true;
  std::string_view path = mapping_for_kind(location.kind);
  std::uint64_t build_id = 0;
  if (is_known) {
    const Mapping& mapping = profile_.mappings[location.mapping];
    path = profile_.text(mapping.filename);
    if (mapping.build_id != 0) {
      build_id = text_id(build_ids_, build_id_bytes(profile_.text(mapping.build_id)), data);
    }
  }
  const std::uint64_t path_id = text_id(mapping_paths_, path.empty() ? "[unknown]" : path, data);
  message_.clear();
  message_.uint(kIid, iid);
  message_.uint(kMappingBuildId, build_id);
  message_.uint(kMappingPathParts, path_id);
  data.message(kMappings, message_);
  return iid;
}

std::uint64_t PerfettoInterner::text_id(Texts& texts, std::string_view text, ProtoWriter& data) {
  std::string valid;
  if (texts.field == kBuildIds) {
    valid = text;  // bytes, not a text
  } else {
    append_valid_utf8(valid, text);
  }
  const auto [entry, is_new] = texts.ids.try_emplace(std::move(valid), texts.ids.size() + 1);
  if (!is_new) return entry->second;
  message_.clear();
  message_.uint(kIid, entry->second);
  message_.bytes(kText, entry->first);
  data.message(texts.field, message_);
  return entry->second;
}

}  // namespace lumbre::output
