// LineHeader: the header of one line-number program (.debug_line, DWARF 2-5; section 6.2.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/dwarf/forms.h"
#include "symbolizer/dwarf/unit.h"

namespace lumbre::dwarf {

struct LineFile {
  std::string_view name;
  std::uint64_t directory = 0;
};

struct LineHeader {
  UnitFormat format;
  std::uint8_t min_instruction_length = 1;
  std::uint8_t max_operations = 1;
  std::int8_t line_base = 0;
  std::uint8_t line_range = 1;
  std::uint8_t opcode_base = 1;
  std::span<const std::byte> opcode_lengths;  // of opcodes 1 .. opcode_base - 1
  std::vector<std::string_view> directories;  // as stored: before DWARF 5 the first is number 1
  std::vector<LineFile> files;
  std::span<const std::byte> program;  // the opcodes
  std::uint64_t size_bytes = 0;        // of tables and program together

  // None where the header is broken or of an unknown version. The unit gives the string bases.
  static std::optional<LineHeader> parse(const UnitContext& unit, std::uint64_t offset);

  // The path of a file by its number in the program; "" for unknown numbers.
  std::string path(std::uint64_t file, std::string_view comp_dir) const;
};

// A name below a directory, unless the name is absolute or the directory unknown.
std::string join_path(std::string_view directory, std::string_view name);

// The operands of DW_LNE_define_file and of the old file tables, after the name.
LineFile read_old_file(ByteReader& reader, std::string_view name);

}  // namespace lumbre::dwarf
