#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/elf/symbol_table.h"

namespace lumbre {
namespace {

bool is_defined_here(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_COMMON &&
         (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC || type == STT_GNU_IFUNC);
}

ElfSymbol to_symbol(const SymbolTable& table, const Elf64_Sym& symbol) {
  return {table.name(symbol), ImageAddress{symbol.st_value}, symbol.st_size};
}

// Global and weak ones first: a local of the same name may belong to any source file.
std::optional<ElfSymbol> scan(const SymbolTable& table, std::string_view name) {
  std::optional<ElfSymbol> local;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto symbol = table.entry(i);
    if (!table.has_name(symbol, name) || !is_defined_here(symbol)) {
      continue;
    }
    if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) {
      return to_symbol(table, symbol);
    }
    if (!local.has_value()) {
      local = to_symbol(table, symbol);
    }
  }
  return local;
}

}  // namespace

std::optional<ElfSymbol> find_exported_symbol(const ElfFile& file, std::string_view name) {
  if (name.empty()) {
    return std::nullopt;
  }
  const auto tables = find_dynamic_tables(file);
  if (const auto index = find_in_gnu_hash(tables, name); index.has_value()) {
    const auto symbol = tables.symbols.entry(*index);
    if (is_defined_here(symbol)) {
      return to_symbol(tables.symbols, symbol);
    }
  }
  return tables.gnu_hash.empty() ? scan(tables.symbols, name) : std::nullopt;
}

std::optional<ElfSymbol> find_symbol_by_name(const ElfFile& file, std::string_view name) {
  if (name.empty()) {
    return std::nullopt;
  }
  const auto exported = find_exported_symbol(file, name);
  return exported.has_value() ? exported : scan(find_static_symbols(file), name);
}

}  // namespace lumbre
