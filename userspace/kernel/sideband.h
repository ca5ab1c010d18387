// Sideband: what perf tells of every process's life and mappings (PERF_RECORD_MMAP2, COMM, FORK,
// EXIT, LOST), in time order. System-wide, one dummy event per CPU; the clock is CLOCK_MONOTONIC,
// as of the kernel programs' records. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "symbolizer/base/address.h"
#include "symbolizer/base/result.h"
#include "userspace/kernel/perf_event.h"

namespace lumbre {

struct MappingAdded {  // executable ones only
  std::uint32_t pid = 0;
  ProcessAddress start;
  std::uint64_t size_bytes = 0;
  FileOffset offset;
  unsigned device_major = 0, device_minor = 0;
  std::uint64_t inode = 0;
  std::string path;
};
struct ProcessForked {
  std::uint32_t pid = 0, parent_pid = 0;
};
struct ProcessExecuted {
  std::uint32_t pid = 0;
};
struct ProcessExited {
  std::uint32_t pid = 0;
};
struct SidebandLost {
  std::uint64_t count = 0;
};

struct SidebandEvent {
  std::uint64_t time_ns = 0;
  std::variant<MappingAdded, ProcessForked, ProcessExecuted, ProcessExited, SidebandLost> what;
};

class Sideband {
 public:
  static Result<Sideband> open();
  // All events so far, oldest first.
  std::vector<SidebandEvent> drain();
  const std::vector<PerfEvent>& events() const { return events_; }

 private:
  explicit Sideband(std::vector<PerfEvent> events) : events_(std::move(events)) {}
  std::vector<PerfEvent> events_;
};

}  // namespace lumbre
