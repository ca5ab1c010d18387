// BpfObject: owns the loaded kernel programs, their maps and their attachments.
//
// open -> (settings fixed) load -> attach. Everything is held by file descriptors of this process,
// so that the kernel removes all of it when Lumbre ends, however it ends. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/events.h"
#include "bpf/abi/tables.h"
#include "symbolizer/base/result.h"
#include "userspace/kernel/bpf_unwind_tables.h"
#include "userspace/kernel/ring_drain.h"

struct lumbre_bpf;

namespace lumbre {

struct BpfSettings {
  lumbre_config config{};
  std::uint32_t ring_bytes = 4 << 20;  // a power of two, at least one page
};

using CounterValues = std::array<std::uint64_t, LUMBRE_COUNTER_COUNT>;
using EventCounterValues =
    std::array<std::array<std::uint64_t, LUMBRE_EVENT_COUNTER_COUNT>, LUMBRE_EVENT_COUNT>;

// The kernel's own account of our programs (bpf_prog_info.run_time_ns; needs BPF statistics on).
struct ProgramCost {
  std::uint64_t run_time_ns = 0;
  std::uint64_t run_count = 0;
};

class BpfObject {
 public:
  static Result<std::unique_ptr<BpfObject>> load(const BpfSettings& settings);
  ~BpfObject();

  Result<void> attach_lifecycle();
  int cpu_program_fd() const;

  // Hands every record sent so far to the callback; the bytes are valid during it.
  void consume(const RingDrain::RecordCallback& callback) { ring_->take(callback); }
  int ring_poll_fd() const { return ring_->poll_fd(); }

  Result<void> add_target(std::uint32_t visible_pid);
  Result<void> set_python(std::uint32_t visible_pid, const lumbre_python_process& process);
  void forget_python(std::uint32_t visible_pid);

  UnwindTableStore& unwind_tables() { return *unwind_tables_; }

  CounterValues read_counters() const;
  EventCounterValues read_event_counters() const;
  ProgramCost read_cost() const;
  std::uint64_t kernel_memory_bytes() const;  // of maps, as /proc/self/fdinfo tells (memlock)

 private:
  BpfObject() = default;

  lumbre_bpf* skeleton_ = nullptr;
  std::optional<BpfUnwindTables> unwind_tables_;
  int statistics_fd_ = -1;
  std::unique_ptr<RingDrain> ring_;  // last: its thread ends before the map is closed
};

}  // namespace lumbre
