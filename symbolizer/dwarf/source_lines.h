// SourceLines: from an image address to source file, line and inlined functions, out of DWARF 2-5.
//
// An own reader (.debug_info, .debug_abbrev, .debug_line, .debug_str, .debug_line_str,
// .debug_str_offsets, .debug_addr, .debug_ranges, .debug_rnglists, .debug_aranges), lazy by unit:
// memory is in proportion to what was asked. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct SourceFrame {
  // DW_AT_linkage_name where there is one, else DW_AT_name; "" for the outermost frame of an
  // address that only the line table covers (the symbol table then names it). "[inlined]" for an
  // inlined function whose name the file does not hold.
  std::string function;
  bool is_linkage_name = false;  // else `function` is qualified as far as the file says
  std::string file;              // absolute where the unit's directory makes it so
  std::uint32_t line = 0;        // 0: unknown
  std::uint32_t column = 0;      // 0: unknown
  std::uint32_t start_line = 0;  // DW_AT_decl_line of the function; 0: unknown
};

class SourceLines {
 public:
  explicit SourceLines(std::shared_ptr<const ElfFile> file_with_debug_info);
  ~SourceLines();
  SourceLines(SourceLines&&) noexcept;

  // Innermost inlined function first, the concrete function last; empty where nothing is known.
  std::vector<SourceFrame> find(ImageAddress address) const;
  bool has_debug_info() const;
  // Gives back the pages of the file that look-ups have touched (they are read again when needed);
  // for use after a batch. Look-ups in the order of addresses keep the resident size smallest.
  void release_pages() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lumbre
