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
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/events.h"
#include "bpf/abi/tables.h"
#include "symbolizer/base/result.h"
#include "userspace/kernel/bpf_programs.h"
#include "userspace/kernel/bpf_unwind_tables.h"
#include "userspace/kernel/bpf_waits.h"
#include "userspace/kernel/ring_drain.h"

struct bpf_program;
struct bpf_link;

namespace lumbre {

struct BpfSettings {
  lumbre_config config{};
  std::uint32_t ring_bytes = 4 << 20;  // a power of two, at least one page
  std::set<std::uint32_t> events = {LUMBRE_EVENT_CPU};  // whose programs are loaded
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

  // Why the kernel programs are those for older kernels (bpf_programs.h); "" where they are not.
  const std::string& classic_reason() const { return classic_reason_; }

  Result<void> attach_lifecycle();
  int cpu_program_fd() const;
  // Begins (and ends) to follow waits; needs the event `offcpu`.
  Result<void> attach_waits();
  void detach_waits();
  BpfWaits& waits() { return *waits_; }

  // Hands every record sent so far to the callback; the bytes are valid during it.
  void consume(const RingDrain::RecordCallback& callback) { ring_->take(callback); }
  int ring_poll_fd() const { return ring_->poll_fd(); }

  Result<void> add_target(std::uint32_t visible_pid);
  Result<void> set_python(std::uint32_t visible_pid, const lumbre_python_process& process);
  void forget_python(std::uint32_t visible_pid);
  std::optional<lumbre_python_process> find_python(std::uint32_t visible_pid) const;

  UnwindTableStore& unwind_tables() { return *unwind_tables_; }

  CounterValues read_counters() const;
  EventCounterValues read_event_counters() const;
  ProgramCost read_cost() const;
  std::uint64_t kernel_memory_bytes() const;  // of maps, as /proc/self/fdinfo tells (memlock)

 private:
  BpfObject() = default;
  Result<void> load_programs(const BpfSettings& settings);
  int try_set(ProgramSet set, const BpfSettings& settings);
  Result<void> attach(bpf_program* program, bpf_link*& link);

  lumbre_bpf* skeleton_ = nullptr;
  std::string classic_reason_;
  std::optional<BpfUnwindTables> unwind_tables_;
  std::optional<BpfWaits> waits_;
  int statistics_fd_ = -1;
  std::unique_ptr<RingDrain> ring_;  // last: its thread ends before the map is closed
};

}  // namespace lumbre
