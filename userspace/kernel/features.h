// What this kernel and these rights allow, found by trying, never by the kernel's version.
#pragma once

#include <string>
#include <vector>

namespace lumbre {

struct FeatureFinding {
  std::string sentence;  // what it is for
  std::string detail;    // what was found
  std::string remedy;    // what to do if it is missing; "" where nothing can be done
  bool is_present = false;
  bool is_required = false;  // without it nothing can be recorded
};

std::vector<FeatureFinding> probe_features();

}  // namespace lumbre
