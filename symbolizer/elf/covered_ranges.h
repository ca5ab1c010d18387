// From function symbols that may overlap, nest, share addresses or lack a size to the disjoint
// ranges that each of them names. Pure; O(n log n) whatever the input, near O(n) without aliases.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "symbolizer/elf/function_starts.h"

namespace lumbre {

struct SymbolExtent {
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // of the symbol, or of its section when it has no size
  std::uint32_t symbol = 0;
  bool is_sized = true;
};

struct CoveredRange {
  std::uint64_t start = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t symbol = 0;
};

// Sorted by start. Where several symbols cover an address the one that starts last has it; of those
// that start together, the one that `is_better(a, b)` puts first. A symbol without a size has only
// what no other one covers, up to the next symbol or the next of `starts`.
std::vector<CoveredRange> cover_ranges(
    std::vector<SymbolExtent> extents, const FunctionStarts& starts,
    const std::function<bool(const SymbolExtent&, const SymbolExtent&)>& is_better);

}  // namespace lumbre
