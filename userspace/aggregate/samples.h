// What a recording keeps: each sample as (time, stack, labels, weight), and the tables behind it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "symbolizer/base/interner.h"
#include "userspace/aggregate/frame.h"
#include "userspace/aggregate/labels.h"
#include "userspace/aggregate/stack_trie.h"

namespace lumbre {

struct WeightedStack {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  StackId stack = 0;
  LabelSetId labels = 0;
  std::uint64_t weight = 0;  // already divided by the probability of being sampled
  std::uint32_t pid = 0, tid = 0;
  std::uint32_t cpu = 0;
  std::uint32_t event = 0;  // enum lumbre_event
};

struct StackTotal {
  std::uint64_t count = 0;
  std::uint64_t weight = 0;
};

// The totals hold every sample. The timed samples stop at a limit, so that a long recording stays
// inside bounded memory; how many were left out is counted. One thread.
class SampleStore {
 public:
  using TotalKey = std::tuple<std::uint32_t, StackId, LabelSetId>;  // event, stack, labels

  explicit SampleStore(std::size_t max_timed_samples = 4'000'000) : max_timed_(max_timed_samples) {}

  void add(const WeightedStack& sample) {
    StackTotal& total = totals_[{sample.event, sample.stack, sample.labels}];
    total.count += 1;
    total.weight += sample.weight;
    if (timed_.size() < max_timed_) {
      timed_.push_back(sample);
    } else {
      ++untimed_;
    }
  }

  const std::map<TotalKey, StackTotal>& totals() const { return totals_; }
  const std::vector<WeightedStack>& timed() const { return timed_; }
  std::uint64_t untimed() const { return untimed_; }

  FrameTable frames;
  StackTrie stacks;
  LabelTable labels;
  StringInterner texts;  // of markers

 private:
  std::size_t max_timed_;
  std::map<TotalKey, StackTotal> totals_;
  std::vector<WeightedStack> timed_;
  std::uint64_t untimed_ = 0;
};

}  // namespace lumbre
