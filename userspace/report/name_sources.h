// NameSources: where the names of each module and of the kernel come from; opened when first needed
// and kept, so that a long recording can be written several times. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "symbolizer/dwarf/source_lines.h"
#include "symbolizer/kallsyms.h"
#include "symbolizer/python/method_names.h"
#include "userspace/process/module_cache.h"

namespace lumbre {

// The symbols and lines of one module: its own, or its separate debug file's.
class ModuleNames {
 public:
  explicit ModuleNames(Module& module);

  std::optional<ElfSymbol> find_symbol(ImageAddress address) const;
  // Innermost inlined function first; empty where nothing is known.
  std::vector<SourceFrame> find_source(ImageAddress address) const;
  // The method of an interpreter whose function begins here; null where its data names none. They
  // are searched for when first asked; other modules have none.
  const MethodName* find_method(ImageAddress function_start);
  bool has_methods() const { return !methods_.empty(); }  // as far as they were searched for
  bool has_lines() const { return lines_ != nullptr; }
  void release_pages() {
    if (lines_ != nullptr) {
      lines_->release_pages();
    }
  }

 private:
  const SymbolIndex* symbols_ = nullptr;
  std::shared_ptr<ElfFile> interpreter_;  // null: the module holds none, or its methods are known
  std::vector<MethodName> methods_;
  std::shared_ptr<ElfFile> debug_file_;
  std::shared_ptr<const SymbolIndex> debug_symbols_;
  std::unique_ptr<SourceLines> lines_;
};

class NameSources {
 public:
  explicit NameSources(ModuleCache& modules) : modules_(modules) {}

  ModuleCache& modules() { return modules_; }
  ModuleNames& names_of(ModuleId module);
  std::optional<KernelSymbol> find_kernel_symbol(std::uint64_t address);
  bool is_kernel_scheduler(std::uint64_t address);
  // Gives the pages of debug files back to the kernel; what is kept is small.
  void release_pages();

 private:
  const KernelSymbols* kernel();

  ModuleCache& modules_;
  std::map<ModuleId, std::unique_ptr<ModuleNames>> names_;
  std::optional<KernelSymbols> kernel_;
  bool is_kernel_tried_ = false;
};

}  // namespace lumbre
