// TaskLabels: the labels that every sample has (pid, tid, process, thread), and what an event adds.
// One thread.
#pragma once

#include <string>
#include <unordered_map>

#include "bpf/abi/events.h"
#include "userspace/aggregate/labels.h"

namespace lumbre {

class TaskLabels {
 public:
  explicit TaskLabels(LabelTable& labels) : labels_(labels) {}

  LabelSetId of(const lumbre_task& task, bool is_approximate, const LabelSet& more = {});

 private:
  LabelTable& labels_;
  std::unordered_map<std::string, LabelSetId> known_;
};

}  // namespace lumbre
