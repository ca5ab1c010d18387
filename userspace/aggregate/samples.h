// What a recording keeps: each sample as (time, stack, labels, weight), and the tables behind it.
#pragma once

#include <cstdint>
#include <string>
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

struct SampleStore {
  FrameTable frames;
  StackTrie stacks;
  LabelTable labels;
  StringInterner texts;  // of markers
  std::vector<WeightedStack> samples;
};

}  // namespace lumbre
