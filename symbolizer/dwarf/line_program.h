// LineProgram: the state machine of .debug_line (DWARF 5, section 6.2), run one row at a time.
//
// It can be stopped after any row and taken up again from a copy of the registers: after a row they
// are the row. Never leaves the program's bytes; every step consumes at least one of them.
#pragma once

#include <cstdint>

#include "symbolizer/dwarf/line_header.h"

namespace lumbre::dwarf {

struct LineRegisters {
  std::uint64_t address = 0;
  std::uint32_t file = 1;
  std::uint32_t line = 1;
  std::uint32_t column = 0;
  std::uint32_t operation = 0;  // op_index, for VLIW machines
};

class LineProgram {
 public:
  enum class Event : std::uint8_t { kRow, kEndSequence, kEnd };

  explicit LineProgram(const LineHeader& header) : header_(&header), reader_(header.program) {}
  LineProgram(const LineHeader& header, std::size_t offset, const LineRegisters& registers)
      : header_(&header), reader_(header.program, offset), registers_(registers) {}

  // Runs until the next row or the end of the sequence; reset() must follow the latter.
  Event next();
  void reset() { registers_ = LineRegisters{}; }
  const LineRegisters& registers() const { return registers_; }
  std::size_t offset() const { return reader_.offset(); }
  // Files named by DW_LNE_define_file since the start.
  const std::vector<LineFile>& defined_files() const { return defined_files_; }

 private:
  void advance(std::uint64_t operations);
  bool run_standard(std::uint8_t opcode);  // true after a row
  bool run_extended();                     // true at the end of the sequence
  void skip_unknown(std::uint8_t opcode);

  const LineHeader* header_;
  ByteReader reader_;
  LineRegisters registers_;
  std::vector<LineFile> defined_files_;
};

}  // namespace lumbre::dwarf
