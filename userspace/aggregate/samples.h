// What a recording keeps: each sample as (time, stack, labels, weight), and the tables behind it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
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

// One value for each sample type of the event, in the order of the contract.
using EventValues = std::array<std::uint64_t, 4>;

// The totals hold every sample. The timed samples stop at a limit, so that a long recording stays
// inside bounded memory; how many were left out is counted. One thread.
class SampleStore {
 public:
  using TotalKey = std::pair<StackId, LabelSetId>;
  using Totals = std::map<TotalKey, EventValues>;

  explicit SampleStore(std::size_t max_timed_samples = 4'000'000) : max_timed_(max_timed_samples) {}

  // One sample of an event that has a count and a weight.
  void add(const WeightedStack& sample) {
    EventValues& total = totals_[sample.event][{sample.stack, sample.labels}];
    total[0] += 1;
    total[1] += sample.weight;
    add_timed(sample);
  }
  void add_timed(const WeightedStack& sample) {
    if (timed_.size() < max_timed_) {
      timed_.push_back(sample);
    } else {
      ++untimed_;
    }
  }
  // For events whose totals are known in another way than sample by sample.
  void replace_totals(std::uint32_t event, Totals totals) { totals_[event] = std::move(totals); }

  const Totals& totals(std::uint32_t event) const {
    static const Totals kNone;
    const auto found = totals_.find(event);
    return found == totals_.end() ? kNone : found->second;
  }
  const std::vector<WeightedStack>& timed() const { return timed_; }
  std::uint64_t untimed() const { return untimed_; }

  FrameTable frames;
  StackTrie stacks;
  LabelTable labels;
  StringInterner texts;  // of markers

 private:
  std::size_t max_timed_;
  std::map<std::uint32_t, Totals> totals_;  // by enum lumbre_event
  std::vector<WeightedStack> timed_;
  std::uint64_t untimed_ = 0;
};

}  // namespace lumbre
