// Frame: one frame of a stack, independent of the process it was seen in; interned to a FrameId.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace lumbre {

enum class FrameKind : std::uint8_t {
  kNative,     // module + image address
  kEvalLoop,   // the same, but the interpreter's loop: its Python frames stand above it
  kNoFile,     // code made at run time that has no name (yet); see JitCodes
  kJit,        // code made at run time: name + line
  kPython,     // code object + line
  kKernel,     // kernel address
  kTruncated,  // the root is missing: text
  kMissing,    // frames in the middle are missing: text
};

struct Frame {
  FrameKind kind = FrameKind::kNative;
  // ModuleId, Python code index, JitCodes' index, or text id (kTruncated, kMissing).
  std::uint32_t owner = 0;
  std::uint64_t address = 0;  // image or kernel address, or the line (kPython, kJit)
  bool operator==(const Frame&) const = default;
};

using FrameId = std::uint32_t;

struct FrameHash {
  std::size_t operator()(const Frame& frame) const noexcept {
    std::uint64_t hash = frame.address * 0x9e3779b97f4a7c15ULL;
    hash ^= (std::uint64_t{frame.owner} << 8 | static_cast<std::uint64_t>(frame.kind)) *
            0xc2b2ae3d27d4eb4fULL;
    return hash ^ (hash >> 29);
  }
};

// One thread.
class FrameTable {
 public:
  FrameId intern(const Frame& frame) {
    const auto [at, is_new] = ids_.try_emplace(frame, static_cast<FrameId>(frames_.size()));
    if (is_new) {
      frames_.push_back(frame);
    }
    return at->second;
  }
  const Frame& at(FrameId id) const { return frames_[id]; }
  std::size_t size() const { return frames_.size(); }

 private:
  std::unordered_map<Frame, FrameId, FrameHash> ids_;
  std::vector<Frame> frames_;
};

}  // namespace lumbre
