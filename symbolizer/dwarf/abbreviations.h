// Abbreviation tables (.debug_abbrev; DWARF 5, section 7.5.3): the shapes of the entries of a unit.
//
// A table is made for one UnitFormat, so that the bytes to skip are known beforehand: skipping is
// what a reader of .debug_info does most. Memory is at most a small multiple of the bytes parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "symbolizer/dwarf/forms.h"

namespace lumbre::dwarf {

struct AttributeSpec {
  std::uint16_t name = 0;
  std::uint16_t form = 0;
  std::int32_t implicit_const = 0;  // 32 bits hold every line and file number
};

struct Abbreviation {
  std::uint64_t code = 0;
  std::uint16_t tag = 0;
  bool has_children = false;
  bool has_code = false;  // DW_AT_low_pc or DW_AT_ranges is among the attributes
  std::uint32_t attributes_begin = 0, attributes_end = 0;
  std::uint32_t skips_begin = 0, skips_end = 0;
};

class AbbreviationTable {
 public:
  AbbreviationTable() = default;
  // Reads until the table's end or the first broken declaration; what came before stays usable.
  AbbreviationTable(std::span<const std::byte> section, std::uint64_t offset,
                    const UnitFormat& format);

  const Abbreviation* find(std::uint64_t code) const;  // null when there is none
  std::span<const AttributeSpec> attributes(const Abbreviation& abbreviation) const {
    return std::span(attributes_)
        .subspan(abbreviation.attributes_begin,
                 abbreviation.attributes_end - abbreviation.attributes_begin);
  }
  // Moves the cursor from the first attribute of an entry past its last.
  void skip(ByteReader& reader, const Abbreviation& abbreviation) const;
  std::uint64_t parsed_bytes() const { return parsed_bytes_; }

 private:
  struct Skip {  // so many bytes, then one value of a form whose size is in the data
    std::uint16_t size_bytes = 0;
    std::uint16_t form = 0;  // 0: none
  };
  void add_attribute(Abbreviation& abbreviation, const AttributeSpec& spec);
  void add_skip(std::uint16_t form);

  UnitFormat format_;
  std::vector<Abbreviation> abbreviations_;  // by code
  std::vector<AttributeSpec> attributes_;
  std::vector<Skip> skips_;
  std::uint64_t parsed_bytes_ = 0;
};

// Reads one declaration; false at the end of the table or where it is broken.
bool read_abbreviation(ByteReader& reader, Abbreviation& abbreviation,
                       std::vector<AttributeSpec>& attributes);

}  // namespace lumbre::dwarf
