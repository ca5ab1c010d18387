#include "output/stack_frames.h"

#include <cinttypes>
#include <cstdio>

#include "output/frame_kinds.h"

namespace lumbre::output {

std::string fallback_name(const Profile& profile, const Location& location) {
  if (location.kind == FrameKind::kJit) return std::string(kJitMapping);
  if (location.mapping >= profile.mappings.size()) return "[unknown]";
  const Mapping& mapping = profile.mappings[location.mapping];
  const std::string& path = profile.text(mapping.filename);
  const std::string_view module = std::string_view(path).substr(path.rfind('/') + 1);
  if (module.empty()) return "[unknown]";
  char offset[24];
  std::snprintf(offset, sizeof(offset), "+0x%" PRIx64,
                location.address - mapping.memory_start + mapping.file_offset);
  return std::string(module) + offset;
}

}  // namespace lumbre::output
