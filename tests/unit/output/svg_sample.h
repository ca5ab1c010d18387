// Small profiles for the flame graph's tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "output/profile.h"

namespace lumbre::test {

// Builds a profile with one sample type, "cpu" in nanoseconds.
class ProfileBuilder {
 public:
  ProfileBuilder();

  // "p:name@file.py:12", "n:name", "k:name", "j:...", "t:...", "u:..."; by the first letter.
  output::LocationId frame(std::string_view text);
  // Frames from the root to the leaf.
  void sample(const std::vector<std::string>& frames, std::int64_t value);

  output::Profile profile;
};

// main -> step (two lines) -> conv2d -> a kernel function; a truncated stack beside it.
output::Profile make_small_profile();

}  // namespace lumbre::test
