// What the kernel programs call and not every kernel has; found by trying each on this kernel, never
// by its version. Any thread; a few system calls per item.
#pragma once

#include <string>
#include <vector>

namespace lumbre {

struct KernelNeed {
  std::string sentence;  // what it is for
  std::string remedy;
  bool is_present = false;
};

std::vector<KernelNeed> probe_kernel_needs();

// "this kernel lacks ...; use ...", or "" where nothing is missing.
std::string missing_kernel_needs();

}  // namespace lumbre
