// A made-up cpu profile that looks like a training run: Python trainer, PyTorch-like operators,
// kernel frames, data workers. The same one every time. For pictures and browser tests.
#pragma once

#include <cstdint>

#include "output/profile.h"

namespace lumbre::test {

struct TrainingOptions {
  std::uint32_t stacks = 5000;  // how many samples are drawn
  std::uint32_t seed = 1;
  double loader_weight = 1;  // how much more often data loading is hit: for differences
};

output::Profile make_training_profile(const TrainingOptions& options);
// One stack of `depth` frames over and over, and short ones beside it.
output::Profile make_deep_profile(std::uint32_t depth);
// About `nodes` different frames in the merged tree.
output::Profile make_wide_profile(std::uint32_t nodes);
// Names that break out of careless writers.
output::Profile make_hostile_profile();
output::Profile make_empty_profile();

}  // namespace lumbre::test
