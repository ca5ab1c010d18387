// KernelWalk: keeps the walk in the kernel supplied, and checks it.
//
// A sample that the kernel could not walk whole came with a copy of its stack. What user space met
// when it walked that copy is loaded, so that the next such stack is walked in the kernel. Samples
// walked in both places are compared: the two must agree to the last frame. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "userspace/unwind/native_unwinder.h"
#include "userspace/unwind/process_ranges.h"
#include "userspace/unwind/rule_pages.h"

namespace lumbre {

struct KernelWalkCounts {
  std::array<std::uint64_t, LUMBRE_WALK_END_COUNT> ends{};  // samples with a user stack
  std::uint64_t checked = 0;                                // walked in both places
  std::uint64_t mismatched = 0;
  std::string first_mismatch;  // for a report of the fault
};

class KernelWalk {
 public:
  KernelWalk(UnwindTableStore& store, ProcessTable& processes);

  // `native` is what user space made of the sample.
  void learn(const StackSample& sample, const NativeStack& native);
  // The same for a sample that needs neither.
  void count(const StackSample& sample);
  void apply(const lumbre_process_record& record);

  const KernelWalkCounts& counts() const { return counts_; }
  const RulePages& pages() const { return pages_; }
  std::uint64_t refused_count() const { return ranges_.refused_count(); }

 private:
  void compare(const StackSample& sample, const NativeStack& native);
  void load(const StackSample& sample, const NativeStack& native);

  ProcessTable& processes_;
  RulePages pages_;
  ProcessRanges ranges_;
  KernelWalkCounts counts_;
};

}  // namespace lumbre
