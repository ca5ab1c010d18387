// Call frame information of one ELF file: from an image address to the rule that finds the caller.
//
// Reads .eh_frame (through .eh_frame_hdr's sorted table where there is one, else by an index built
// in one pass) and .debug_frame. An FDE is interpreted when an address in it is first asked for;
// nothing is built for the whole file. A broken FDE or an unknown opcode costs that FDE alone.
// Not thread-safe; memory is in proportion to what was asked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bpf/abi/tables.h"
#include "symbolizer/elf/elf_file.h"

namespace lumbre {

// How one register of the caller is found (DWARF 5, section 6.4.1).
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kSame, kUndefined, kOffset /* *(CFA + offset) */, kValueOffset /* CFA + offset */, kRegister,
    kExpression /* *(expression) */, kValueExpression
  };
  Kind kind = Kind::kSame;
  std::int64_t offset = 0;                  // or the register number
  std::span<const std::byte> expression;    // into the mapped file
};

struct CfiRow {
  ImageAddress start, end;  // the addresses that the row covers
  bool is_signal_frame = false;
  bool cfa_is_expression = false;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  std::span<const std::byte> cfa_expression;
  RegisterRule registers[LUMBRE_REGISTER_COUNT];  // by DWARF number; 16 is the return address
};

struct CompactRow {  // one row as a rule
  ImageAddress start, end;
  lumbre_unwind_rule rule;
};

class CfiTable {
 public:
  explicit CfiTable(std::shared_ptr<const ElfFile> file);
  ~CfiTable();
  CfiTable(CfiTable&&) noexcept;

  // The whole row at an address; none where no FDE covers it.
  std::optional<CfiRow> find_row(ImageAddress address) const;
  // The same as a compact rule; LUMBRE_CFA_FULL where it does not fit one.
  std::optional<CompactRow> find_rule(ImageAddress address) const;
  // All rows of the FDE that covers the address, in order.
  std::vector<CompactRow> rows_of_function(ImageAddress address) const;
  // What find_rule() says for every address in [start, end), as rows in order, disjoint, cut to the
  // range; no row where it finds none. For tables built by page.
  std::vector<CompactRow> rows_between(ImageAddress start, ImageAddress end) const;
  bool is_empty() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Translates a row; LUMBRE_CFA_FULL where it does not fit the compact form.
lumbre_unwind_rule compact_rule(const CfiRow& row);

}  // namespace lumbre
