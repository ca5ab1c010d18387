#include "userspace/report/name_sources.h"

#include "symbolizer/elf/debug_file.h"

namespace lumbre {

ModuleNames::ModuleNames(Module& module) : symbols_(module.symbols()) {
  if (module.elf == nullptr) {
    return;
  }
  interpreter_ = module.python.has_value() ? module.elf : nullptr;
  std::shared_ptr<ElfFile> with_lines = module.elf;
  if (module.elf->find_section(".debug_info") == nullptr) {
    auto found = find_debug_file(*module.elf, module.path, {module.target_root, ""});
    if (found.has_value()) {
      debug_file_ = std::move(found).value();
      debug_symbols_ = SymbolIndex::build(debug_file_);
      with_lines = debug_file_;
    }
  }
  auto lines = std::make_unique<SourceLines>(with_lines);
  if (lines->has_debug_info()) {
    lines_ = std::move(lines);
  }
}

std::optional<ElfSymbol> ModuleNames::find_symbol(ImageAddress address) const {
  if (debug_symbols_ != nullptr) {
    if (auto symbol = debug_symbols_->find(address)) {
      return symbol;
    }
  }
  return symbols_ == nullptr ? std::nullopt : symbols_->find(address);
}

std::vector<SourceFrame> ModuleNames::find_source(ImageAddress address) const {
  return lines_ == nullptr ? std::vector<SourceFrame>() : lines_->find(address);
}

const MethodName* ModuleNames::find_method(ImageAddress function_start) {
  if (interpreter_ != nullptr) {
    methods_ = find_method_names(*interpreter_);
    interpreter_ = nullptr;
  }
  return lumbre::find_method(methods_, function_start);
}

ModuleNames& NameSources::names_of(ModuleId id) {
  std::unique_ptr<ModuleNames>& names = names_[id];
  if (names == nullptr) {
    names = std::make_unique<ModuleNames>(modules_.at(id));
  }
  return *names;
}

void NameSources::release_pages() {
  for (auto& [id, names] : names_) {
    if (names != nullptr) {
      names->release_pages();
    }
    if (const Module& module = modules_.at(id); module.elf != nullptr) {
      module.elf->release_pages();
    }
  }
}

const KernelSymbols* NameSources::kernel() {
  if (!is_kernel_tried_) {
    is_kernel_tried_ = true;
    if (Result<KernelSymbols> loaded = KernelSymbols::load(); loaded.has_value()) {
      kernel_ = std::move(loaded).value();
    }
  }
  return kernel_.has_value() ? &*kernel_ : nullptr;
}

std::optional<KernelSymbol> NameSources::find_kernel_symbol(std::uint64_t address) {
  const KernelSymbols* symbols = kernel();
  return symbols == nullptr ? std::nullopt : symbols->find(address);
}

bool NameSources::is_kernel_scheduler(std::uint64_t address) {
  const KernelSymbols* symbols = kernel();
  return symbols != nullptr && symbols->is_scheduler(address);
}

}  // namespace lumbre
