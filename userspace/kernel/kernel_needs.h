// What the kernel programs call and not every kernel has; found by trying each on this kernel,
// never by its version. Any thread; a few system calls per item.
#pragma once

#include <string>
#include <vector>

namespace lumbre {

enum class NeedKind {
  kRequired,
  kUsualSet,  // without it the classic set of programs stands in (bpf_programs.h)
};

struct KernelNeed {
  std::string sentence;  // what it is for
  std::string since;     // "Linux 5.8"
  NeedKind kind = NeedKind::kRequired;
  bool is_present = false;
};

std::vector<KernelNeed> probe_kernel_needs();

// "this kernel lacks: ...", with what to do where it is required; "" where nothing is missing.
std::string missing_kernel_needs(NeedKind kind);

}  // namespace lumbre
