// Perfetto trace (timeline.pftrace): CPU samples with their times and interned stacks, and
// counters. Opens in Perfetto's own viewer and trace processor.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "output/profile.h"

namespace lumbre::output {

// One sample at its time; `stack` is an index into PerfettoTrace::stacks.
struct TimedSample {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint32_t stack = 0;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint32_t weight = 1;
};

struct PerfettoThread {
  std::uint32_t pid = 0, tid = 0;
  std::string process_name, thread_name;
};

struct PerfettoTrace {
  const Profile* profile = nullptr;             // names of the locations
  std::vector<std::vector<LocationId>> stacks;  // leaf first
  std::vector<TimedSample> samples;
  std::vector<PerfettoThread> threads;
  std::uint64_t boot_minus_monotonic_ns = 0;  // clock snapshot
  std::int64_t wall_minus_monotonic_ns = 0;
};

bool write_perfetto(const PerfettoTrace& trace, std::ostream& out);

}  // namespace lumbre::output
