// SymbolIndex: from an image address to the function symbol that covers it.
//
// Merges .symtab (else .gnu_debugdata's .symtab with .dynsym, else .dynsym) of one file. A name is
// given only where it is proven: inside the symbol's size; a sizeless symbol covers its own
// address up to the next symbol or the end of its section only if nothing else says otherwise
// (assembler entry points such as _start), never across a gap. The stubs of the procedure linkage
// table are named "malloc@plt". Names are borrowed from the mapping where they are in it; built in
// about 100 ms for half a million symbols. Immutable after building: any thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct ElfSymbol {
  // Mangled, as in the file, without a version; lives as long as the ElfFile and the index.
  std::string_view name;
  ImageAddress address;
  std::uint64_t size_bytes = 0;
};

class SymbolIndex {
 public:
  static std::shared_ptr<const SymbolIndex> build(std::shared_ptr<const ElfFile> file);

  // The function that covers the address; aliases resolved as perf does (a weak one last, global
  // before local, then the fewest leading underscores, then the longest name).
  std::optional<ElfSymbol> find(ImageAddress address) const;
  std::size_t size() const;
  bool has_symtab() const;  // false: names come from .dynsym alone

 private:
  struct State;
  explicit SymbolIndex(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

// One symbol by exact name (functions and data, not thread-local ones), from .dynsym, then .symtab.
// Through the GNU hash table it costs microseconds on a file of half a million symbols; a name
// that is not exported costs a pass over .symtab (13 ms there).
std::optional<ElfSymbol> find_symbol_by_name(const ElfFile& file, std::string_view name);
// The same from .dynsym alone: reads a few pages of the file, however large it is.
std::optional<ElfSymbol> find_exported_symbol(const ElfFile& file, std::string_view name);

}  // namespace lumbre
