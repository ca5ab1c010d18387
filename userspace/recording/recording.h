// Recording: one recording from its start to the stored samples.
//
// prepare (load and attach, nothing sampled yet) -> run (until time, signal or the target's end)
// -> the finished facts. Wires parts; each phase is theirs. One thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/base/result.h"
#include "userspace/collectors/offcpu.h"
#include "userspace/kernel/bpf_object.h"
#include "userspace/kernel/perf_event.h"
#include "userspace/kernel/sideband.h"
#include "userspace/recording/options.h"
#include "userspace/recording/pipeline.h"
#include "userspace/recording/spawn.h"

namespace lumbre {

// What the recording was, besides its samples.
struct RecordingFacts {
  RecordOptions options;
  SamplingClock clock = SamplingClock::kCpuClock;
  std::uint64_t start_wall_ns = 0;
  std::uint64_t start_monotonic_ns = 0;
  std::uint64_t start_boot_ns = 0;
  double duration_s = 0;
  std::uint64_t stolen_ns = 0;  // by the hypervisor, from all CPUs together
  double ns_per_weight = 1;  // converts the samples' weights: 1 unless they are cycles
  CounterValues counters{};
  EventCounterValues event_counters{};
  ProgramCost bpf_cost;
  double own_cpu_s = 0;  // user and kernel time of Lumbre itself
  std::uint64_t own_peak_rss_bytes = 0;
  std::uint64_t kernel_memory_bytes = 0;
  std::string classic_reason;  // BpfObject::classic_reason
  const OffCpuCollector* offcpu = nullptr;  // null: not recorded
  std::size_t children_left_out = 0;  // that ran at the start, with --no-children
  bool is_interrupted = false;
  bool is_complete = false;  // false in what is saved while recording
};

class Recording {
 public:
  static Result<std::unique_ptr<Recording>> prepare(const RecordOptions& options);
  ~Recording();

  // Called every few seconds with the facts brought up to date, so that what was recorded can be
  // saved in case Lumbre is killed. Slower callbacks are called less often.
  void on_checkpoint(std::function<void()> callback) { checkpoint_ = std::move(callback); }
  // `stop` may be set by a signal handler.
  Result<void> run(const std::atomic<bool>& stop);

  Pipeline& pipeline() { return *pipeline_; }
  const RecordingFacts& facts() const { return facts_; }
  // Lumbre's own cost up to now: writing the files is part of it.
  void update_own_cost();
  // With a command: its wait status, once run() has returned.
  int command_status() const { return command_status_; }
  const SpawnedCommand* command() const { return command_.get(); }

 private:
  Recording() = default;
  Result<void> set_up(const RecordOptions& options);
  Result<void> add_targets();
  Result<void> add_collectors();
  Result<void> start_sampling();
  bool is_over(const std::atomic<bool>& stop);
  void wait_for_events(int timeout_ms) const;
  void finish();
  void read_facts();
  void read_machine_facts();
  void raise_priority();
  void restore_priority();
  void show_progress();
  void save_checkpoint();

  RecordingFacts facts_;
  std::unique_ptr<SpawnedCommand> command_;
  std::unique_ptr<BpfObject> bpf_;
  std::unique_ptr<Sideband> sideband_;
  std::unique_ptr<Pipeline> pipeline_;
  std::vector<PerfEvent> events_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_progress_;
  std::chrono::steady_clock::time_point next_checkpoint_;
  std::function<void()> checkpoint_;
  MachineTimes machine_at_start_;
  int command_status_ = 0;
  std::optional<int> usual_nice_;  // of this thread, while it is raised
  bool shows_progress_ = false;
};

}  // namespace lumbre
