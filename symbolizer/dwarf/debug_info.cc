#include "symbolizer/dwarf/debug_info.h"

#include <algorithm>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

constexpr std::uint64_t kBudgetSlack = 1 << 20;

std::uint64_t sizes_key(const UnitFormat& format) {
  // Versions differ in the size of DW_FORM_ref_addr alone.
  const std::uint64_t is_version_2 = format.version <= 2 ? 1 : 0;
  return is_version_2 << 16 | std::uint64_t{format.address_size} << 8 | format.offset_size;
}

}  // namespace

DebugInfo::DebugInfo(const ElfFile& file)
    : sections_(Sections::of(file)),
      units_(read_units(sections_.info)),
      table_budget_(4 * sections_.abbrev.size() + kBudgetSlack),
      root_budget_(4 * sections_.abbrev.size() + kBudgetSlack) {}

std::optional<std::size_t> DebugInfo::unit_index_at(std::uint64_t info_offset) const {
  const auto after =
      std::upper_bound(units_.begin(), units_.end(), info_offset,
                       [](std::uint64_t offset, const Unit& unit) { return offset < unit.offset; });
  if (after == units_.begin() || info_offset >= std::prev(after)->end) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(std::prev(after) - units_.begin());
}

std::shared_ptr<const AbbreviationTable> DebugInfo::table_of(const Unit& unit) {
  auto& table = tables_[{unit.abbrev_offset, sizes_key(unit.format)}];
  if (table == nullptr && table_budget_.spend(1)) {
    auto parsed =
        std::make_shared<AbbreviationTable>(sections_.abbrev, unit.abbrev_offset, unit.format);
    if (table_budget_.spend(parsed->parsed_bytes())) {
      table = std::move(parsed);
    }
  }
  return table;
}

const OpenUnit* DebugInfo::open(std::size_t unit_index) {
  const auto [place, is_new] = open_.try_emplace(unit_index);
  const Unit& unit = units_[unit_index];
  if (!is_new || unit.header_size == 0) {
    return place->second.get();
  }
  const auto table = table_of(unit);
  ByteReader reader(sections_.info.first(unit.end), unit.root());
  const Abbreviation* root = table == nullptr ? nullptr : table->find(reader.uleb128());
  if (root != nullptr) {
    const UnitRoot facts = read_root(reader, unit, *root, table->attributes(*root));
    place->second =
        std::make_unique<OpenUnit>(OpenUnit{UnitContext(sections_, unit, facts), table});
  }
  return place->second.get();
}

std::optional<UnitContext> DebugInfo::look_at_root(std::size_t unit_index) {
  const Unit& unit = units_[unit_index];
  ByteReader reader(sections_.info.first(unit.end), unit.root());
  const std::uint64_t code = reader.uleb128();
  if (unit.header_size == 0 || code == 0) {
    return std::nullopt;
  }
  const auto [known, is_new] =
      root_declarations_.try_emplace({unit.abbrev_offset, code}, unit.abbrev_offset);
  ByteReader declarations(sections_.abbrev, known->second);
  Abbreviation abbreviation;
  std::vector<AttributeSpec> attributes;
  std::uint64_t start = declarations.offset();
  while (read_abbreviation(declarations, abbreviation, attributes) &&
         root_budget_.spend(declarations.offset() - start)) {
    if (abbreviation.code == code) {
      known->second = start;
      return UnitContext(sections_, unit, read_root(reader, unit, abbreviation, attributes));
    }
    start = declarations.offset();
  }
  return std::nullopt;
}

}  // namespace lumbre::dwarf
