#include "tests/unit/python/live_python.h"

#include <elf.h>

#include <optional>

#include "symbolizer/procfs/maps.h"

namespace lumbre {
namespace {

// Where the file's image begins in the process, by the mapping of its executable segment.
std::optional<std::uint64_t> find_load_bias(const ElfFile& file, const MapsEntry& mapping) {
  constexpr std::uint64_t kPageMask = ~std::uint64_t{4095};
  for (const ElfFile::Segment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0 &&
        (segment.offset.value & kPageMask) == mapping.offset.value) {
      return mapping.start.value - (segment.address.value & kPageMask);
    }
  }
  return std::nullopt;
}

std::optional<LivePython> find_in_mapping(const MapsEntry& mapping) {
  auto opened = MappedFile::open(mapping.path);
  if (!opened.has_value()) {
    return std::nullopt;
  }
  const auto file = ElfFile::parse(std::move(opened).value());
  if (!file.has_value()) {
    return std::nullopt;
  }
  const auto runtime = find_python_runtime(*file);
  const auto bias = find_load_bias(**file, mapping);
  if (!runtime || !bias) {
    return std::nullopt;
  }
  return LivePython{mapping.path, *file, *runtime, *bias};
}

}  // namespace

std::vector<LivePython> find_live_pythons(pid_t pid) {
  std::vector<LivePython> found;
  const auto maps = read_maps(pid);
  if (!maps.has_value()) {
    return found;
  }
  for (const MapsEntry& mapping : *maps) {
    if (!mapping.is_executable || !mapping.path.starts_with('/')) {
      continue;
    }
    if (auto python = find_in_mapping(mapping)) {
      found.push_back(std::move(*python));
    }
  }
  return found;
}

}  // namespace lumbre
