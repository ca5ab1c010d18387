// The three line table formats of CPython, each read up to the instruction asked for.
#include <limits>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/python/code_object.h"

namespace lumbre {
namespace {

constexpr std::int64_t kCodeUnitBytes = 2;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

PythonLine line_of(std::int64_t line, std::int64_t column = -1) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  PythonLine result;
  if (line > 0 && line <= kMost) {
    result.line = static_cast<std::uint32_t>(line);
  }
  if (column >= 0 && column < kMost) {
    result.column = static_cast<std::uint32_t>(column) + 1;
  }
  return result;
}

// Up to 3.9 (Objects/lnotab_notes.txt): pairs of an unsigned address step and a signed line step;
// the last line holds to the end of the code.
PythonLine find_in_lnotab(const PythonCode& code, std::int64_t offset) {
  std::int64_t line = code.first_line;
  std::int64_t address = 0;
  ByteReader reader(bytes_of(code.line_table));
  while (reader.remaining() >= 2) {
    address += reader.u8();
    if (address > offset) {
      return line_of(line);
    }
    line += reader.read<std::int8_t>();
  }
  return code.is_line_table_whole ? line_of(line) : PythonLine{};
}

// 3.10 (PEP 626, Objects/lnotab_notes.txt): pairs of the length of a range and its line step, -128
// for a range without a line.
PythonLine find_in_ranges(const PythonCode& code, std::int64_t offset) {
  constexpr std::int8_t kNoLine = -128;
  std::int64_t line = code.first_line;
  std::int64_t end = 0;
  ByteReader reader(bytes_of(code.line_table));
  while (reader.remaining() >= 2) {
    end += reader.u8();
    const auto step = reader.read<std::int8_t>();
    line += step == kNoLine ? 0 : step;
    if (offset < end) {
      return step == kNoLine ? PythonLine{} : line_of(line);
    }
  }
  return {};
}

// Six bits per byte, least significant first, bit 6 set while more follow.
std::uint64_t read_varint(ByteReader& reader) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 6) {
    const std::uint8_t byte = reader.u8();
    if (shift < 32) {
      value |= static_cast<std::uint64_t>(byte & 0x3f) << shift;
    }
    if ((byte & 0x40) == 0) {
      return value;
    }
  }
}

std::int64_t read_signed_varint(ByteReader& reader) {
  const std::uint64_t value = read_varint(reader);
  const auto magnitude = static_cast<std::int64_t>(value >> 1);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

// What one entry of the location table says.
struct Location {
  std::int64_t line_step = 0;
  std::int64_t column = -1;  // from 0; -1: not told
  bool has_line = true;
};

Location read_location(ByteReader& reader, unsigned form) {
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;
  if (form < kOneLine) {  // the column is the form's three bits and the byte's upper four
    const std::uint8_t columns = reader.u8();
    return {.column = static_cast<std::int64_t>(form << 3 | (columns >> 4 & 7))};
  }
  if (form < kNoColumns) {
    const std::uint8_t column = reader.u8();
    reader.skip(1);  // end column
    return {.line_step = form - kOneLine, .column = column};
  }
  if (form == kNone) {
    return {.has_line = false};
  }
  Location location{.line_step = read_signed_varint(reader)};
  if (form == kLong) {
    read_varint(reader);  // end line
    location.column = static_cast<std::int64_t>(read_varint(reader)) - 1;
    read_varint(reader);  // end column
  }
  return location;
}

// 3.11 on (PEP 657, InternalDocs/code_objects.md): entries of 1 to 8 code units, each beginning
// with a byte whose bit 7 is set: form in bits 3-6, length - 1 in bits 0-2.
PythonLine find_in_locations(const PythonCode& code, std::int64_t offset) {
  std::int64_t line = code.first_line;
  std::int64_t end = 0;
  ByteReader reader(bytes_of(code.line_table));
  while (!reader.is_at_end()) {
    const std::uint8_t head = reader.u8();
    if ((head & 0x80) == 0) {
      return {};
    }
    const Location location = read_location(reader, head >> 3 & 0xf);
    if (reader.is_failed()) {
      return {};
    }
    line += location.line_step;
    end += ((head & 7) + 1) * kCodeUnitBytes;
    if (offset < end) {
      return location.has_line ? line_of(line, location.column) : PythonLine{};
    }
  }
  return {};
}

}  // namespace

PythonLine find_line(const PythonCode& code, std::int64_t instruction_offset_bytes) {
  if (instruction_offset_bytes < 0) {
    return line_of(code.first_line);
  }
  if (code.version < 0x030a) {
    return find_in_lnotab(code, instruction_offset_bytes);
  }
  if (code.version == 0x030a) {
    return find_in_ranges(code, instruction_offset_bytes);
  }
  return find_in_locations(code, instruction_offset_bytes);
}

}  // namespace lumbre
