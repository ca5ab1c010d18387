// Units of .debug_info (DWARF 5, section 7.5.1): their headers, and what their root entries say.
//
// UnitContext turns raw form values into strings, addresses and references, which needs the bases
// that the root entry gives. Immutable once made: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/dwarf/abbreviations.h"
#include "symbolizer/dwarf/forms.h"
#include "symbolizer/dwarf/sections.h"

namespace lumbre::dwarf {

struct Unit {
  std::uint64_t offset = 0;  // of the header, in .debug_info
  std::uint64_t end = 0;     // past the unit's last byte
  std::uint64_t abbrev_offset = 0;
  std::uint32_t header_size = 0;
  UnitFormat format;
  std::uint8_t type = 0;  // DW_UT_*; before DWARF 5 always kCompile

  std::uint64_t root() const { return offset + header_size; }
};

// All units up to the first header that is broken. Units of an unknown version keep their place
// with header_size 0, since references count on it.
std::vector<Unit> read_units(std::span<const std::byte> info);

// Where the code of an entry lies, as its attributes say it.
struct PcAttributes {
  FormValue low_pc, high_pc, ranges;
};

struct UnitRoot {
  std::uint16_t tag = 0;
  std::uint16_t language = 0;
  bool has_children = false;
  bool has_dwo = false;  // the rest of the unit is in a .dwo file
  PcAttributes pc;
  FormValue comp_dir;
  std::optional<std::uint64_t> line_offset;  // DW_AT_stmt_list
  std::uint64_t str_offsets_base = 0, addr_base = 0, rnglists_base = 0;
};

UnitRoot read_root(ByteReader& reader, const Unit& unit, const Abbreviation& abbreviation,
                   std::span<const AttributeSpec> attributes);

class UnitContext {
 public:
  UnitContext(const Sections& sections, const Unit& unit, const UnitRoot& root)
      : sections_(&sections), unit_(unit), root_(root) {}

  const Unit& unit() const { return unit_; }
  const UnitRoot& root() const { return root_; }
  const Sections& sections() const { return *sections_; }

  std::string_view string(const FormValue& value) const;
  std::optional<std::uint64_t> address(const FormValue& value) const;
  std::optional<std::uint64_t> indexed_address(std::uint64_t index) const;  // in .debug_addr
  // Offset in .debug_info of the entry referred to; none for type signatures and other files.
  std::optional<std::uint64_t> reference(const FormValue& value) const;

 private:
  const Sections* sections_;
  Unit unit_;
  UnitRoot root_;
};

}  // namespace lumbre::dwarf
