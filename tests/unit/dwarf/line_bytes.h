// Builds the bytes of .debug_line for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "symbolizer/dwarf/constants.h"
#include "symbolizer/dwarf/line_table.h"

namespace lumbre::dwarf {

class Bytes {
 public:
  template <typename T>
  Bytes& put(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  Bytes& u8(unsigned value) { return put(static_cast<std::uint8_t>(value)); }
  Bytes& u16(unsigned value) { return put(static_cast<std::uint16_t>(value)); }
  Bytes& u32(std::uint64_t value) { return put(static_cast<std::uint32_t>(value)); }
  Bytes& u64(std::uint64_t value) { return put(value); }
  Bytes& uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    }
    return u8(static_cast<unsigned>(value));
  }
  Bytes& string(std::string_view value) {
    text_.append(value).push_back('\0');
    return *this;
  }
  Bytes& append(const Bytes& other) {
    text_.append(other.text_);
    return *this;
  }
  std::size_t size() const { return text_.size(); }
  std::span<const std::byte> view() const { return std::as_bytes(std::span(text_)); }

 private:
  std::string text_;
};

// Opcodes of a line-number program.
class LineOps : public Bytes {
 public:
  LineOps& set_address(std::uint64_t address) {
    u8(0).uleb(9).u8(line_op::kSetAddress).u64(address);
    return *this;
  }
  LineOps& advance_pc(std::uint64_t operations) {
    u8(line_op::kAdvancePc).uleb(operations);
    return *this;
  }
  LineOps& advance_line(unsigned lines) {  // below 64
    u8(line_op::kAdvanceLine).u8(lines);
    return *this;
  }
  LineOps& set_file(std::uint64_t file) {
    u8(line_op::kSetFile).uleb(file);
    return *this;
  }
  LineOps& row() {
    u8(line_op::kCopy);
    return *this;
  }
  LineOps& end_sequence() {
    u8(0).uleb(1).u8(line_op::kEndSequence);
    return *this;
  }
};

struct LineParameters {
  unsigned version = 4;
  unsigned min_instruction_length = 1;
  unsigned max_operations = 1;
  unsigned line_range = 14;
  unsigned opcode_base = 13;
};

// A header with the given tables of directories and files, and a program.
inline Bytes line_section(const LineParameters& parameters, const Bytes& tables,
                          const Bytes& program) {
  static constexpr std::uint8_t kLengths[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
  Bytes inner;
  inner.u8(parameters.min_instruction_length);
  if (parameters.version >= 4) {
    inner.u8(parameters.max_operations);
  }
  inner.u8(1).u8(static_cast<std::uint8_t>(-5)).u8(parameters.line_range);
  inner.u8(parameters.opcode_base);
  for (unsigned opcode = 1; opcode < parameters.opcode_base; ++opcode) {
    inner.u8(opcode <= 12 ? kLengths[opcode - 1] : 2);  // unknown ones: two operands
  }
  inner.append(tables);
  Bytes rest;
  rest.u16(parameters.version);
  if (parameters.version == 5) {
    rest.u8(8).u8(0);
  }
  rest.u32(inner.size()).append(inner).append(program);
  return Bytes().u32(rest.size()).append(rest);
}

// Directory "dir" and files "a.cc" (in it) and "/abs/b.cc", as DWARF 2-4 store them.
inline Bytes old_tables() {
  Bytes tables;
  tables.string("dir").u8(0);
  tables.string("a.cc").uleb(1).uleb(0).uleb(0);
  tables.string("/abs/b.cc").uleb(0).uleb(0).uleb(0);
  return tables.u8(0);
}

inline std::optional<LineHeader> parse_header(const Bytes& section) {
  Sections sections;
  sections.line = section.view();
  return LineHeader::parse(UnitContext(sections, Unit{}, UnitRoot{}), 0);
}

// All addresses from 0x1000 to 0x10000 are code.
inline LineTable table_of(const Bytes& section) {
  Sections sections;
  sections.line = section.view();
  sections.code = {{0x1000, 0x10000}};
  auto header = LineHeader::parse(UnitContext(sections, Unit{}, UnitRoot{}), 0);
  return header.has_value() ? LineTable(sections, std::move(*header)) : LineTable();
}

}  // namespace lumbre::dwarf
