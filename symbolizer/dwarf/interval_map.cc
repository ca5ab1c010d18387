#include "symbolizer/dwarf/interval_map.h"

#include <algorithm>

namespace lumbre::dwarf {

IntervalMap::IntervalMap(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    return a.end != b.end ? a.end > b.end : a.value < b.value;
  });
  std::vector<Interval> around;  // those that hold the current place, innermost last
  const auto leave_until = [&](std::uint64_t place) {
    while (!around.empty() && around.back().end <= place) {
      const std::uint32_t end = around.back().end;
      while (!around.empty() && around.back().end <= end) {
        around.pop_back();
      }
      change(end, around.empty() ? kNone : around.back().value);
    }
  };
  for (const Interval& interval : intervals) {
    leave_until(interval.start);
    around.push_back(interval);
    change(interval.start, interval.value);
  }
  leave_until(std::uint64_t{1} << 32);
  starts_.shrink_to_fit();
  values_.shrink_to_fit();
}

void IntervalMap::change(std::uint32_t at, std::uint32_t value) {
  if (!starts_.empty() && starts_.back() == at) {
    values_.back() = value;
  } else if (starts_.empty() || values_.back() != value) {
    starts_.push_back(at);
    values_.push_back(value);
  }
}

std::uint32_t IntervalMap::find(std::uint32_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return after == starts_.begin() ? kNone
                                  : values_[static_cast<std::size_t>(after - starts_.begin()) - 1];
}

}  // namespace lumbre::dwarf
