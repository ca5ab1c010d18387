// ScopeIndex: which namespaces and types of one unit an entry lies in.
//
// Entries of .debug_info do not know their parents; this finds them by offset. Built in one pass
// over the unit, and only when a name without a linkage name has to be qualified. Immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/dwarf/debug_info.h"

namespace lumbre::dwarf {

class ScopeIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit ScopeIndex(const OpenUnit& unit);
  // Offset from the unit's start of the innermost scope that holds an entry, itself not counted;
  // kNone at the unit's top level.
  std::uint32_t find(std::uint32_t entry) const;

 private:
  struct Scope {
    std::uint32_t entry = 0;
    std::uint32_t end = 0;        // past its last child
    std::uint32_t outer = kNone;  // index in scopes_
  };
  std::vector<Scope> scopes_;  // by entry
};

}  // namespace lumbre::dwarf
