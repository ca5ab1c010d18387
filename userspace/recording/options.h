// What to record: the settings of `lumbre record`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lumbre {

enum class TargetMode { kProcesses, kWholeMachine, kCommand };

// For some hundred samples of each CPU, all stacks copied: 4 to 64 MiB.
std::uint32_t default_ring_bytes();

struct RecordOptions {
  std::vector<std::uint32_t> events = {1};  // enum lumbre_event, in the order of the contract
  TargetMode mode = TargetMode::kProcesses;
  std::vector<std::uint32_t> pids;
  std::vector<std::string> command;
  std::uint32_t frequency_hz = 99;
  std::optional<double> duration_s;
  bool follows_children = true;
  std::uint32_t ring_bytes = default_ring_bytes();
  std::uint32_t max_stack_frames = 1024;
  bool walks_in_kernel = true;        // native frames; else every stack is copied
  std::uint32_t self_check_one_in = 256;  // stacks walked in the kernel: walked here, too; 0: none
  std::uint64_t max_bytes = 256 << 20;  // of samples kept with their times
  bool takes_wakers = false;  // the stacks of threads that end long waits
  double budget_percent = 1;  // of one CPU, that sampling waits may cost
  bool is_quiet = false;

  bool has_event(std::uint32_t event) const {
    return std::find(events.begin(), events.end(), event) != events.end();
  }
};

}  // namespace lumbre
