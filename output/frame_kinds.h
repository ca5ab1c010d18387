// How a frame's kind is told from what pprof and folded files keep of it, and kept in them.
//
// pprof has no field for the kind. Lumbre's files carry it in the mapping ("[python]", "[jit]",
// "[kernel.kallsyms]") and in the name ("[truncated: ...]", "module+0x1f"); other producers' files
// are judged by the same signs and by source files, anonymous mappings and kernel addresses. Any
// thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "output/profile.h"

namespace lumbre::output {

inline constexpr std::string_view kPythonMapping = "[python]";
inline constexpr std::string_view kJitMapping = "[jit]";
inline constexpr std::string_view kKernelMapping = "[kernel.kallsyms]";
// Names of the frames that stand for a state; "[blocked: net]".
inline constexpr std::string_view kBlockedPrefix = "[blocked: ";
inline constexpr std::string_view kRunnableName = "[runnable]";

// The file name of the mapping that stands for a kind without a file of its own; "" for others.
std::string_view mapping_for_kind(FrameKind kind);

// What is known of a frame from outside; empty and 0 where a file does not say.
struct FrameSigns {
  std::string_view name = {};
  std::string_view source_file = {};
  std::string_view mapping = {};
  std::uint64_t address = 0;
};
FrameKind judge_frame_kind(const FrameSigns& signs);

bool is_kernel_mapping(std::string_view filename);
// "module+0x1f", "[unknown]" and other names that say that there is no name.
bool is_unknown_name(std::string_view name);
// Code made at run time of which nobody said what it is: "[jit]" as a name.
bool is_unnamed_jit(const Profile& profile, const Location& location);

}  // namespace lumbre::output
