// Pipeline: takes what the kernel sent, in time order, and turns it into stored samples.
//
// One round: records from the ring buffer, then the sideband (so that every mapping older than a
// sample is known), then both merged by time. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "userspace/aggregate/samples.h"
#include "userspace/aggregate/task_labels.h"
#include "userspace/collectors/collector.h"
#include "userspace/decode/decoder.h"
#include "userspace/kernel/bpf_object.h"
#include "userspace/kernel/sideband.h"
#include "userspace/process/jit_codes.h"
#include "userspace/process/process_table.h"
#include "userspace/recording/options.h"
#include "userspace/unwind/kernel_walk.h"
#include "userspace/unwind/native_unwinder.h"
#include "userspace/unwind/python_codes.h"
#include "userspace/unwind/stack_join.h"
#include "userspace/unwind/stack_memo.h"

namespace lumbre {

// Of one event.
struct PipelineCounts {
  std::uint64_t shown = 0;
  std::uint64_t approximate = 0;
  std::uint64_t bytes = 0;  // through the ring buffer
  std::map<std::string, std::uint64_t> truncated;  // samples, by cause
};

class Pipeline {
 public:
  Pipeline(BpfObject& bpf, Sideband& sideband, const RecordOptions& options);

  // Before the first round: the processes that run already.
  void add_process(std::uint32_t pid);
  void follow_all() { processes_.follow_all(true); }

  void run_round();
  // The recording begins, and its time is over (CLOCK_MONOTONIC): see Collector.
  void begin(std::uint64_t begin_ns);
  void stop();
  void finish();
  void add_collector(std::uint32_t event, std::unique_ptr<Collector> collector);
  // Brings the store's totals up to date.
  void publish();

  // Looks itself once a second, too: no event tells of a process that ended while it was added.
  bool has_live_targets();
  const PipelineCounts& counts(std::uint32_t event) const { return counts_[event]; }
  const SampleStore& store() const { return store_; }
  SampleStore& store() { return store_; }
  TaskLabels& labels() { return labels_; }
  ProcessTable& processes() { return processes_; }
  ModuleCache& modules() { return modules_; }
  const PythonCodes& codes() const { return codes_; }
  JitCodes& jit() { return jit_; }
  const KernelWalk& kernel_walk() const { return kernel_walk_; }
  const std::set<std::string>& notes() const { return notes_; }
  std::uint64_t lost_mappings() const { return processes_.lost_events(); }
  std::uint64_t malformed_records() const { return decoder_.malformed_records(); }
  std::size_t process_count() const { return seen_processes_; }

 private:
  void note_python(const Process& process, const PythonRuntime& runtime, std::uint64_t bias);
  void apply_sideband_until(std::uint64_t time_ns);
  void forget_ended(std::uint64_t now_ns);
  void handle(const Event& event);
  void handle_sample(const StackSample& sample);
  StackSample completed(StackSample sample);
  void store(const StackSample& sample, const StackMemo::Entry& stack);
  PipelineCounts& counts_of(const StackSample& sample);
  // The sample's stack, by names or from memory.
  StackMemo::Entry stack_of(const StackSample& sample);
  void handle_process(const lumbre_process_record& record);

  BpfObject& bpf_;
  Sideband& sideband_;
  ModuleCache modules_;
  ProcessTable processes_;
  PythonCodes codes_;
  JitCodes jit_;
  bool walks_in_kernel_;
  SampleStore store_;
  TaskLabels labels_;
  Decoder decoder_;
  NativeUnwinder unwinder_;
  KernelWalk kernel_walk_;
  StackJoin joiner_;
  StackMemo memo_;
  std::deque<SidebandEvent> waiting_sideband_;
  std::vector<Event> events_;
  NativeStack native_;
  JoinedStack joined_;
  std::set<std::uint32_t> live_targets_;
  std::uint64_t next_look_ns_ = 0;
  std::deque<std::pair<std::uint64_t, std::uint32_t>> ended_;  // until when, pid
  std::set<std::string> notes_;
  std::size_t seen_processes_ = 0;
  std::array<PipelineCounts, LUMBRE_EVENT_COUNT> counts_;  // by enum lumbre_event
  std::map<std::uint32_t, std::unique_ptr<Collector>> collectors_;
};

}  // namespace lumbre
