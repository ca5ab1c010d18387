// Module: one file that processes execute, opened once and kept open (names survive its deletion
// and its processes). ModuleCache finds it by device and inode; while it is held, the inode number
// cannot be given to another file. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "symbolizer/base/address.h"
#include "symbolizer/code/synthesised_rules.h"
#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/python/runtime_probe.h"

namespace lumbre {

using ModuleId = std::uint32_t;
inline constexpr ModuleId kNoModule = 0xffffffff;

struct Module {
  ModuleId id = kNoModule;
  std::string path;         // as the process that first showed it sees it
  std::string target_root;  // "/proc/PID/root" of that process, for debug files in its own tree
  std::shared_ptr<ElfFile> elf;  // null: could not be read, `failure` says why
  std::string failure;
  std::unique_ptr<CfiTable> cfi;
  std::unique_ptr<SynthesisedRules> synthesised;  // there where cfi is; for what it has no row for
  std::optional<PythonRuntime> python;
  bool is_vdso = false;

  // Built when first asked for.
  const SymbolIndex* symbols();

 private:
  std::shared_ptr<const SymbolIndex> symbols_;
};

// What tells a mapped file from another, as /proc/PID/maps and PERF_RECORD_MMAP2 give it.
struct MappedFileKey {
  unsigned device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const MappedFileKey&) const = default;
};

struct MappedRange {
  std::uint32_t pid = 0;
  ProcessAddress start, end;
  std::string path;
};

class ModuleCache {
 public:
  // The module behind a file mapping; opened through the process (map_files, then its root
  // folder), else by its path here if that is the same file.
  Module& find(const MappedFileKey& key, const MappedRange& range);
  // The kernel's vdso image, the same for every process.
  Module& vdso();
  Module& at(ModuleId id) { return *modules_[id]; }
  const Module& at(ModuleId id) const { return *modules_[id]; }
  std::size_t size() const { return modules_.size(); }

 private:
  Module& add(std::string path);
  static void load(Module& module, Result<MappedFile> file);

  std::vector<std::unique_ptr<Module>> modules_;
  std::map<MappedFileKey, ModuleId> by_file_;
  ModuleId vdso_ = kNoModule;
};

}  // namespace lumbre
