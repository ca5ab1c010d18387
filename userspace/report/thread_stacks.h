// What every thread was doing when a recording of `cpu` and `offcpu` ended: equal stacks in one group,
// across processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/recording/recording.h"
#include "userspace/report/name_sources.h"

namespace lumbre {

struct ThreadGroup {
  std::string state;                // "waits for futex", "ready to run", "running"
  std::vector<std::string> frames;  // leaf first: "name  file:line"
  // Threads by process: tids, with how long the longest of them has waited.
  std::map<std::uint32_t, std::vector<std::uint32_t>> threads;
  std::map<std::uint32_t, std::string> process_names;
  std::uint64_t longest_wait_ns = 0;
  bool is_older = false;  // it waited for longer than was looked

  std::size_t thread_count() const;
};

// The largest group first.
std::vector<ThreadGroup> group_threads(Recording& recording, NameSources& sources,
                                       bool shows_interpreter_frames);

}  // namespace lumbre
