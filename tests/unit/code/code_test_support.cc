#include "code_test_support.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "symbolizer/elf/symbol_table.h"

namespace lumbre {
namespace {

void add_functions(const SymbolTable& table, std::vector<SizedFunction>& functions) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Elf64_Sym symbol = table.entry(i);
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
        symbol.st_size != 0) {
      functions.push_back({std::string(table.name(symbol)), {symbol.st_value}, symbol.st_size});
    }
  }
}

}  // namespace

std::vector<SizedFunction> list_functions(const ElfFile& file) {
  std::vector<SizedFunction> all;
  add_functions(find_dynamic_tables(file).symbols, all);
  add_functions(find_static_symbols(file), all);
  std::stable_sort(all.begin(), all.end(), [](const auto& left, const auto& right) {
    return left.address < right.address;
  });
  std::vector<SizedFunction> functions;
  for (const SizedFunction& function : all) {
    if (functions.empty() ||
        function.address.value >= functions.back().address.value + functions.back().size_bytes) {
      functions.push_back(function);
    }
  }
  return functions;
}

FunctionCode code_of(const std::shared_ptr<const ElfFile>& file, const SizedFunction& function) {
  FunctionCode code;
  code.bytes = file->bytes_at(function.address, function.size_bytes);
  code.address = function.address.value;
  code.read_bytes = [file](std::uint64_t address, std::span<std::byte> bytes) {
    const auto found = file->bytes_at({address}, bytes.size());
    if (found.size() != bytes.size()) {
      return false;
    }
    std::memcpy(bytes.data(), found.data(), bytes.size());
    return true;
  };
  return code;
}

std::string path_of_symbol(const char* name) {
  void* symbol = ::dlsym(RTLD_DEFAULT, name);
  Dl_info info{};
  return symbol != nullptr && ::dladdr(symbol, &info) != 0 ? info.dli_fname : "";
}

}  // namespace lumbre
