// UnitIndex: from an address to the unit that describes it.
//
// Built from .debug_aranges for the units it covers and from the ranges of the root entries for the
// others; should an address miss, all roots are read once, since compilers write incomplete
// .debug_aranges. Type and partial units have no code. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/dwarf/debug_info.h"
#include "symbolizer/dwarf/interval_map.h"

namespace lumbre::dwarf {

class UnitIndex {
 public:
  explicit UnitIndex(DebugInfo& info);
  std::optional<std::size_t> find(std::uint64_t address);

 private:
  void build(bool with_all_roots);

  DebugInfo& info_;
  std::uint64_t base_;
  IntervalMap map_;  // values are unit indices
  bool has_all_roots_ = false;
};

}  // namespace lumbre::dwarf
