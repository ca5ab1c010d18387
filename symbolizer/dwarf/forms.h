// Attribute forms (DWARF 5, section 7.5.6): reading and skipping one attribute value.
//
// A FormValue is raw: what a string offset, an index or a reference means depends on its unit, and
// DebugInfo resolves it. Unknown forms fail the reader, since nothing after them can be found.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbolizer/base/byte_reader.h"

namespace lumbre::dwarf {

// What the size of a form depends on.
struct UnitFormat {
  std::uint16_t version = 0;
  std::uint8_t address_size = 8;
  std::uint8_t offset_size = 4;  // 8 in 64-bit DWARF
  bool operator==(const UnitFormat&) const = default;
};

struct FormValue {
  std::uint16_t form = 0;    // 0: the attribute is absent
  std::uint64_t number = 0;  // address, constant, index, offset or reference as it stands
  std::string_view text;     // DW_FORM_string alone

  bool is_present() const { return form != 0; }
};

FormValue read_form(ByteReader& reader, std::uint16_t form, const UnitFormat& format,
                    std::int64_t implicit_const);
void skip_form(ByteReader& reader, std::uint16_t form, const UnitFormat& format);

// Bytes that the form always takes; none where that depends on the bytes themselves.
std::optional<std::uint8_t> fixed_size(std::uint16_t form, const UnitFormat& format);

// unit_length (section 7.4): the length, and 8 instead of 4 in `offset_size` after the escape.
std::uint64_t read_unit_length(ByteReader& reader, std::uint8_t& offset_size);
std::uint64_t read_unsigned(ByteReader& reader, unsigned size_bytes);

bool is_address_form(std::uint16_t form);

}  // namespace lumbre::dwarf
