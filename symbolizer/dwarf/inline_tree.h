// InlineTree: the functions of one unit and what was inlined into them, by address.
//
// Built in one pass over the unit's entries. Keeps eight bytes per function or inlined instance and
// eight per change of the innermost one along the addresses; names and lines stay in .debug_info
// until asked for. Immutable once built.
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/dwarf/debug_info.h"
#include "symbolizer/dwarf/interval_map.h"

namespace lumbre::dwarf {

class InlineTree {
 public:
  static constexpr std::uint32_t kNone = IntervalMap::kNone;
  struct Node {
    std::uint32_t entry = 0;       // offset from the unit's start
    std::uint32_t parent = kNone;  // what it was inlined into; kNone for a function
  };

  InlineTree() = default;
  // Ranges cost `budget`; when it is used up the rest of the unit has none.
  InlineTree(const OpenUnit& unit, WorkBudget& budget);

  // The innermost function or inlined instance at an address; kNone when there is none.
  std::uint32_t find(std::uint64_t address) const;
  const Node& node(std::uint32_t index) const { return nodes_[index]; }
  std::size_t node_count() const { return nodes_.size(); }

 private:
  std::uint64_t base_ = 0;
  std::vector<Node> nodes_;
  IntervalMap map_;
};

}  // namespace lumbre::dwarf
