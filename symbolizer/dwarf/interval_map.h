// IntervalMap: from an offset to the value of the innermost interval around it.
//
// Made once from nested intervals and then immutable; eight bytes per change of the answer. Where
// intervals overlap without nesting, the one that starts later wins.
#pragma once

#include <cstdint>
#include <vector>

namespace lumbre::dwarf {

struct Interval {
  std::uint32_t start = 0;
  std::uint32_t end = 0;    // exclusive
  std::uint32_t value = 0;  // of two equal intervals the one with the larger value is the inner
};

class IntervalMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  IntervalMap() = default;
  explicit IntervalMap(std::vector<Interval> intervals);

  std::uint32_t find(std::uint32_t offset) const;  // kNone outside all
  std::size_t size() const { return starts_.size(); }

 private:
  void change(std::uint32_t at, std::uint32_t value);

  std::vector<std::uint32_t> starts_;
  std::vector<std::uint32_t> values_;  // values_[i] holds from starts_[i] on
};

}  // namespace lumbre::dwarf
