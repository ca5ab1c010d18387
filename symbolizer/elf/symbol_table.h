// SymbolTable: Elf64_Sym entries with their strings, wherever a file keeps them: in sections, or
// in what PT_DYNAMIC names when the section headers were stripped. A view: the ElfFile owns the
// bytes. Nothing here allocates by the file's claims; an entry or a name outside the bytes reads
// as empty. Any thread.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

class SymbolTable {
 public:
  SymbolTable() = default;
  SymbolTable(std::span<const std::byte> symbols, std::span<const std::byte> strings)
      : symbols_(symbols), strings_(strings) {}

  std::size_t size() const { return symbols_.size() / sizeof(Elf64_Sym); }
  Elf64_Sym entry(std::size_t index) const {  // all zero when out of range
    Elf64_Sym symbol = {};
    if (index < size()) {
      std::memcpy(&symbol, symbols_.data() + index * sizeof(symbol), sizeof(symbol));
    }
    return symbol;
  }
  // Without a version ("memcpy@@GLIBC_2.14" in a .symtab is "memcpy"); cut at kMaxNameBytes.
  std::string_view name(const Elf64_Sym& symbol) const;
  bool has_name(const Elf64_Sym& symbol, std::string_view name) const;

  // The longest seen are C++ names of some ten thousand characters. Bounded because reading a
  // table without terminators would cost its whole length for every symbol.
  static constexpr std::size_t kMaxNameBytes = 65536;

 private:
  std::span<const std::byte> symbols_;
  std::span<const std::byte> strings_;
};

// What the dynamic linker knows of a file.
struct DynamicTables {
  SymbolTable symbols;
  std::span<const std::byte> gnu_hash;  // may reach past the table's end
  std::span<const std::byte> versions;  // Elf64_Half for each symbol
};

SymbolTable find_static_symbols(const ElfFile& file);  // .symtab; empty when there is none
DynamicTables find_dynamic_tables(const ElfFile& file);

// The index of a symbol in the GNU hash table, the default version before hidden ones.
std::optional<std::size_t> find_in_gnu_hash(const DynamicTables& tables, std::string_view name);

// A value of the dynamic section (DT_...), the last one if there are several.
std::optional<std::uint64_t> find_dynamic_value(const ElfFile& file, std::int64_t tag);

}  // namespace lumbre
