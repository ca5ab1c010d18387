// LineTable: rows of one line-number program by address, without keeping the rows.
//
// One run over the program leaves a checkpoint every few rows; a look-up runs on from the nearest
// one before the address. That takes about a byte per row instead of the 24 of a table of rows.
// Immutable once built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/dwarf/line_header.h"
#include "symbolizer/dwarf/line_program.h"

namespace lumbre::dwarf {

struct LineRow {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

class LineTable {
 public:
  LineTable() = default;  // without rows
  LineTable(const Sections& sections, LineHeader header);

  // The row in force at an address; none in the gaps between sequences.
  std::optional<LineRow> find(std::uint64_t address) const;
  std::string path(std::uint64_t file, std::string_view comp_dir) const {
    return header_.path(file, comp_dir);
  }

 private:
  struct Checkpoint {  // right after a row
    LineRegisters registers;
    std::uint32_t offset = 0;  // in the program
  };
  struct Sequence {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t checkpoints_begin = 0, checkpoints_end = 0;
  };
  void run_program(const Sections& sections);
  void end_sequence(const Sections& sections, std::uint64_t end, std::uint32_t begin);
  LineRow row_after(const Checkpoint& checkpoint, std::uint64_t address) const;

  LineHeader header_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<Sequence> sequences_;  // by start
};

}  // namespace lumbre::dwarf
