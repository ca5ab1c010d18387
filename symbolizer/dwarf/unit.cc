#include "symbolizer/dwarf/unit.h"

#include <algorithm>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

// The rest of a header after its length, by version. header_size stays 0 where it cannot be read.
void read_header(ByteReader& reader, Unit& unit) {
  unit.format.version = reader.u16();
  if (unit.format.version < 2 || unit.format.version > 5) {
    return;
  }
  unit.type = unit_type::kCompile;
  if (unit.format.version == 5) {
    unit.type = reader.u8();
    unit.format.address_size = reader.u8();
    unit.abbrev_offset = read_unsigned(reader, unit.format.offset_size);
  } else {
    unit.abbrev_offset = read_unsigned(reader, unit.format.offset_size);
    unit.format.address_size = reader.u8();
  }
  if (unit.type == unit_type::kSkeleton || unit.type == unit_type::kSplitCompile) {
    reader.u64();  // dwo_id
  } else if (unit.type == unit_type::kType || unit.type == unit_type::kSplitType) {
    reader.u64();  // type_signature
    read_unsigned(reader, unit.format.offset_size);
  }
  const bool is_readable = unit.format.address_size == 8 || unit.format.address_size == 4;
  if (is_readable && !reader.is_failed() && reader.offset() < unit.end) {
    unit.header_size = static_cast<std::uint32_t>(reader.offset() - unit.offset);
  }
}

bool is_string_index(std::uint16_t form) {
  return form == form::kStrx || form == form::kGnuStrIndex ||
         (form >= form::kStrx1 && form <= form::kStrx4);
}

// Entry `index` of a table of fixed-size numbers.
std::optional<std::uint64_t> table_entry(std::span<const std::byte> section, std::uint64_t base,
                                         std::uint64_t index, unsigned size_bytes) {
  if (base > section.size() || index >= (section.size() - base) / size_bytes) {
    return std::nullopt;
  }
  ByteReader reader(section, base + index * size_bytes);
  return read_unsigned(reader, size_bytes);
}

}  // namespace

std::vector<Unit> read_units(std::span<const std::byte> info) {
  std::vector<Unit> units;
  ByteReader reader(info);
  while (!reader.is_at_end()) {
    Unit unit;
    unit.offset = reader.offset();
    const std::uint64_t length = read_unit_length(reader, unit.format.offset_size);
    if (reader.is_failed() || length == 0 || length > reader.remaining()) {
      break;
    }
    unit.end = reader.offset() + length;
    read_header(reader, unit);
    units.push_back(unit);
    reader.seek(unit.end);
  }
  return units;
}

UnitRoot read_root(ByteReader& reader, const Unit& unit, const Abbreviation& abbreviation,
                   std::span<const AttributeSpec> attributes) {
  UnitRoot root;
  root.tag = abbreviation.tag;
  root.has_children = abbreviation.has_children;
  // Without the attribute a table is taken to begin after the section's first header.
  root.str_offsets_base = root.addr_base = unit.format.offset_size == 8 ? 16 : 8;
  root.rnglists_base = unit.format.offset_size == 8 ? 20 : 12;
  for (const AttributeSpec& spec : attributes) {
    const FormValue value = read_form(reader, spec.form, unit.format, spec.implicit_const);
    switch (spec.name) {
      case at::kLowPc:
        root.pc.low_pc = value;
        break;
      case at::kHighPc:
        root.pc.high_pc = value;
        break;
      case at::kRanges:
        root.pc.ranges = value;
        break;
      case at::kCompDir:
        root.comp_dir = value;
        break;
      case at::kStmtList:
        root.line_offset = value.number;
        break;
      case at::kLanguage:
        root.language = static_cast<std::uint16_t>(value.number);
        break;
      case at::kStrOffsetsBase:
        root.str_offsets_base = value.number;
        break;
      case at::kAddrBase:
      case at::kGnuAddrBase:
        root.addr_base = value.number;
        break;
      case at::kRnglistsBase:
        root.rnglists_base = value.number;
        break;
      case at::kDwoName:
      case at::kGnuDwoName:
        root.has_dwo = true;
        break;
      default:
        break;
    }
  }
  root.has_dwo |= unit.type == unit_type::kSkeleton;
  return root;
}

std::string_view UnitContext::string(const FormValue& value) const {
  if (value.form == form::kString) {
    return value.text;
  }
  if (value.form == form::kStrp) {
    return string_at(sections_->str, value.number);
  }
  if (value.form == form::kLineStrp) {
    return string_at(sections_->line_str, value.number);
  }
  if (!is_string_index(value.form)) {
    return {};
  }
  const auto offset = table_entry(sections_->str_offsets, root_.str_offsets_base, value.number,
                                  unit_.format.offset_size);
  return offset.has_value() ? string_at(sections_->str, *offset) : std::string_view();
}

std::optional<std::uint64_t> UnitContext::indexed_address(std::uint64_t index) const {
  return table_entry(sections_->addr, root_.addr_base, index, unit_.format.address_size);
}

std::optional<std::uint64_t> UnitContext::address(const FormValue& value) const {
  if (value.form == form::kAddr) {
    return value.number;
  }
  return is_address_form(value.form) ? indexed_address(value.number) : std::nullopt;
}

std::optional<std::uint64_t> UnitContext::reference(const FormValue& value) const {
  switch (value.form) {
    case form::kRef1:
    case form::kRef2:
    case form::kRef4:
    case form::kRef8:
    case form::kRefUdata:
      if (value.number >= unit_.end - unit_.offset) {
        return std::nullopt;
      }
      return unit_.offset + value.number;
    case form::kRefAddr:
      return value.number;
    default:
      return std::nullopt;
  }
}

}  // namespace lumbre::dwarf
