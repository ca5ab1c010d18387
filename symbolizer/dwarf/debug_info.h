// DebugInfo: the units of one file, opened as they are needed.
//
// Abbreviation tables are parsed once per offset and kept with the units that were opened. Roots of
// units that are only looked at (to learn their addresses) leave nothing behind. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbolizer/dwarf/abbreviations.h"
#include "symbolizer/dwarf/sections.h"
#include "symbolizer/dwarf/unit.h"
#include "symbolizer/dwarf/work_budget.h"

namespace lumbre::dwarf {

// A unit whose entries can be read.
struct OpenUnit {
  UnitContext context;
  std::shared_ptr<const AbbreviationTable> abbreviations;

  const Unit& unit() const { return context.unit(); }
  // A cursor over .debug_info that cannot leave the unit, at an offset in .debug_info.
  ByteReader reader_at(std::uint64_t offset) const {
    return ByteReader(context.sections().info.first(unit().end), offset);
  }
  // Of the entry at the cursor, which moves to the entry's attributes; null at the end of a list of
  // children, and where the table does not know the code.
  const Abbreviation* next_abbreviation(ByteReader& reader) const {
    return abbreviations->find(reader.uleb128());
  }
  // Calls visit(attribute name, FormValue) for each attribute; the cursor ends past the last.
  template <typename Visit>
  void visit_attributes(ByteReader& reader, const Abbreviation& abbreviation, Visit&& visit) const {
    for (const AttributeSpec& spec : abbreviations->attributes(abbreviation)) {
      visit(spec.name, read_form(reader, spec.form, unit().format, spec.implicit_const));
    }
  }
};

class DebugInfo {
 public:
  explicit DebugInfo(const ElfFile& file);

  const Sections& sections() const { return sections_; }
  std::span<const Unit> units() const { return units_; }

  // The unit that an offset of .debug_info lies in; none outside all.
  std::optional<std::size_t> unit_index_at(std::uint64_t info_offset) const;
  // Kept; null where the unit cannot be read.
  const OpenUnit* open(std::size_t unit_index);
  // The unit's root alone; not kept.
  std::optional<UnitContext> look_at_root(std::size_t unit_index);

 private:
  std::shared_ptr<const AbbreviationTable> table_of(const Unit& unit);

  Sections sections_;
  std::vector<Unit> units_;
  std::unordered_map<std::size_t, std::unique_ptr<OpenUnit>> open_;  // null: cannot be read
  // By offset and the format's sizes.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const AbbreviationTable>>
      tables_;
  // Where the declaration of a (table, code) is, for look_at_root().
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> root_declarations_;
  WorkBudget table_budget_;
  WorkBudget root_budget_;
};

}  // namespace lumbre::dwarf
