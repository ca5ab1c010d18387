// Sections: the DWARF sections of one file as bytes (decompressed where they were compressed), and
// which addresses are code. Spans stay valid as long as the ElfFile. Immutable: any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre::dwarf {

struct CodeRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // exclusive
};

struct Sections {
  std::span<const std::byte> info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists,
      aranges;
  std::vector<CodeRange> code;  // executable segments; empty: unknown
  bool is_mapped = false;       // the file is mapped, not held in memory
  std::span<const std::byte> whole_file;

  static Sections of(const ElfFile& file);

  // False for addresses of functions that the linker dropped: it leaves 0, 1 or -1 in their place.
  bool is_code(std::uint64_t address) const;
  // Gives the pages back that were read so far; they are read from the file again when needed. A
  // pass over a large unit would else stay in the resident size.
  void release_pages() const;
  // The lowest code address: what 32-bit offsets count from.
  std::uint64_t code_base() const;
};

// The zero-terminated string at an offset; "" where there is none.
std::string_view string_at(std::span<const std::byte> section, std::uint64_t offset);

}  // namespace lumbre::dwarf
