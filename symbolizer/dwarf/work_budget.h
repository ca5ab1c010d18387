// WorkBudget: a bound on work that hostile input could repeat without end.
//
// Tables of an honest file do not overlap, so reading all of them costs about their section's size
// once. A file in which thousands of units point into the same long table exhausts the budget, and
// the rest of it is then treated as absent.
#pragma once

#include <cstdint>

namespace lumbre::dwarf {

class WorkBudget {
 public:
  explicit WorkBudget(std::uint64_t steps) : left_(steps) {}
  // Takes `steps`; false, and nothing is left, when there are fewer.
  bool spend(std::uint64_t steps) {
    const bool is_enough = steps <= left_;
    left_ = is_enough ? left_ - steps : 0;
    return is_enough;
  }

 private:
  std::uint64_t left_;
};

}  // namespace lumbre::dwarf
