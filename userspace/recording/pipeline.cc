#include "userspace/recording/pipeline.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <variant>

#include "symbolizer/python/gil.h"
#include "userspace/unwind/remote_stack.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kEndedGraceNs = 500'000'000;
constexpr std::uint64_t kLookIntervalNs = 1'000'000'000;

std::uint64_t monotonic_now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t time_of(const Event& event) {
  if (const auto* sample = std::get_if<StackSample>(&event)) {
    return sample->time_ns();
  }
  if (const auto* process = std::get_if<ProcessChanged>(&event)) {
    return process->record.header.time_ns;
  }
  if (const auto* wait = std::get_if<WaitEnded>(&event)) {
    return wait->record.header.time_ns;
  }
  if (const auto* thread = std::get_if<ThreadAccount>(&event)) {
    return thread->record.header.time_ns;
  }
  return 0;
}

}  // namespace

Pipeline::Pipeline(BpfObject& bpf, Sideband& sideband, const RecordOptions& options)
    : bpf_(bpf),
      sideband_(sideband),
      processes_(modules_),
      jit_(processes_),
      walks_in_kernel_(options.walks_in_kernel),
      store_(options.max_bytes / sizeof(WeightedStack)),
      labels_(store_.labels),
      unwinder_(processes_, jit_, options.max_stack_frames),
      kernel_walk_(bpf.unwind_tables(), processes_),
      joiner_(modules_, codes_, jit_, store_) {
  processes_.on_python([this](const Process& process, const PythonRuntime& runtime,
                              std::uint64_t bias) { note_python(process, runtime, bias); });
}

void Pipeline::note_python(const Process& process, const PythonRuntime& runtime,
                           std::uint64_t bias) {
  if (!runtime.is_supported) {
    notes_.insert(runtime.unsupported_reason);
    return;
  }
  lumbre_python_process python = place_python_runtime(runtime, bias);
  if (const auto gil = find_gil(LiveProcessMemory(static_cast<int>(process.pid)), python)) {
    python.gil_address = gil->address;
    python.gil_bytes = gil->size_bytes;
  }
  codes_.set_layout(process.pid, runtime.layout);
  if (const Result<void> set = bpf_.set_python(process.pid, python); !set.has_value()) {
    notes_.insert(set.error().message);
  }
}

void Pipeline::add_process(std::uint32_t pid) {
  if (processes_.load(pid)) {
    live_targets_.insert(pid);
    ++seen_processes_;
  }
}

bool Pipeline::has_live_targets() {
  if (const std::uint64_t now_ns = monotonic_now_ns(); now_ns >= next_look_ns_) {
    next_look_ns_ = now_ns + kLookIntervalNs;
    while (!live_targets_.empty() && !has_running_thread(*live_targets_.begin())) {
      live_targets_.erase(live_targets_.begin());
    }
  }
  return !live_targets_.empty();
}

void Pipeline::apply_sideband_until(std::uint64_t time_ns) {
  while (!waiting_sideband_.empty() && waiting_sideband_.front().time_ns <= time_ns) {
    const SidebandEvent& event = waiting_sideband_.front();
    if (const auto* executed = std::get_if<ProcessExecuted>(&event.what)) {
      bpf_.forget_python(executed->pid);
      codes_.forget_process(executed->pid);
      jit_.forget_process(executed->pid);
    } else if (const auto* forked = std::get_if<ProcessForked>(&event.what)) {
      jit_.note_fork(forked->parent_pid, forked->pid, event.time_ns);
    }
    processes_.apply(event);
    waiting_sideband_.pop_front();
  }
}

void Pipeline::run_round() {
  const std::uint64_t round_start_ns = monotonic_now_ns();
  events_.clear();
  bpf_.consume([this](std::span<const std::byte> record) {
    decoder_.add(record, events_);
  });
  for (SidebandEvent& event : sideband_.drain()) {
    waiting_sideband_.push_back(std::move(event));
  }
  for (const Event& event : events_) {
    apply_sideband_until(time_of(event));
    handle(event);
  }
  // Older samples than this are all in: what is left of the sideband can be applied (and files
  // of short-lived processes be opened in time).
  apply_sideband_until(round_start_ns);
  forget_ended(round_start_ns);
  for (const auto& [event, collector] : collectors_) {
    collector->run_round(round_start_ns);
  }
}

void Pipeline::add_collector(std::uint32_t event, std::unique_ptr<Collector> collector) {
  collectors_.insert_or_assign(event, std::move(collector));
}

void Pipeline::publish() {
  for (const auto& [event, collector] : collectors_) {
    collector->publish();
  }
}

// A process is sampled after its end, too, while the kernel takes it apart.
void Pipeline::forget_ended(std::uint64_t now_ns) {
  while (!ended_.empty() && ended_.front().first < now_ns) {
    processes_.remove(ended_.front().second);
    codes_.forget_process(ended_.front().second);
    jit_.forget_process(ended_.front().second);
    ended_.pop_front();
  }
}

void Pipeline::begin(std::uint64_t begin_ns) {
  for (const auto& [event, collector] : collectors_) {
    collector->begin(begin_ns);
  }
}

// What waits is read from outside before its end could go unseen.
void Pipeline::stop() {
  if (collectors_.empty()) {
    return;
  }
  for (const auto& [event, collector] : collectors_) {
    collector->ask_last();
  }
  run_round();
  for (const auto& [event, collector] : collectors_) {
    collector->stop();
  }
}

void Pipeline::finish() {
  run_round();
  events_.clear();
  decoder_.flush(events_);
  for (const Event& event : events_) {
    handle(event);
  }
  for (const auto& [event, collector] : collectors_) {
    collector->finish();
  }
}

void Pipeline::handle(const Event& event) {
  if (const auto* sample = std::get_if<StackSample>(&event)) {
    handle_sample(*sample);
  } else if (const auto* code = std::get_if<PythonCodeSeen>(&event)) {
    codes_.add(code->code);
  } else if (const auto* process = std::get_if<ProcessChanged>(&event)) {
    handle_process(process->record);
  }
  for (const auto& [event_id, collector] : collectors_) {
    collector->apply(event);
  }
}

void Pipeline::handle_process(const lumbre_process_record& record) {
  const std::uint32_t pid = record.task.visible_pid;
  if (pid == 0) {
    return;
  }
  kernel_walk_.apply(record);
  if (record.change == LUMBRE_PROCESS_FORK) {
    std::erase_if(ended_, [pid](const auto& ended) { return ended.second == pid; });
    live_targets_.insert(pid);
    ++seen_processes_;
  } else if (record.change == LUMBRE_PROCESS_EXIT) {
    live_targets_.erase(pid);
    ended_.push_back({record.header.time_ns + kEndedGraceNs, pid});
  }
}

StackMemo::Entry Pipeline::stack_of(const StackSample& sample) {
  const Process* process = processes_.find(sample.sample.task.visible_pid);
  const bool is_memorable = process != nullptr &&
                            sample.sample.native_end == LUMBRE_WALK_ROOT &&
                            (sample.sample.flags & LUMBRE_SAMPLE_CHECKED) == 0;
  StackMemo::Key key;
  if (is_memorable) {
    key = StackMemo::key_of(sample, process->mappings_number);
    if (const auto known = memo_.find(key)) {
      kernel_walk_.count(sample);
      return *known;
    }
  }
  unwinder_.unwind(sample, native_);
  if (walks_in_kernel_) {
    kernel_walk_.learn(sample, native_);
  }
  joiner_.join(sample, native_, joined_);
  if (!joined_.truncated.empty()) {
    ++counts_of(sample).truncated[joined_.truncated];
  }
  const StackMemo::Entry entry{store_.stacks.insert(joined_.root_first), joined_.is_approximate};
  // Code made at run time may have another name the next time.
  const bool has_jit =
      std::any_of(native_.frames.begin(), native_.frames.end(),
                  [](const NativeFrame& frame) { return frame.module == kNoModule; });
  if (is_memorable && joined_.truncated.empty() && !has_jit) {
    memo_.add(key, entry);
  }
  return entry;
}

PipelineCounts& Pipeline::counts_of(const StackSample& sample) {
  return counts_[std::min<std::uint32_t>(sample.sample.event, LUMBRE_EVENT_COUNT - 1)];
}

// A thread that waits: its stack lies still and is read from outside.
StackSample Pipeline::completed(StackSample sample) {
  const std::uint32_t pid = sample.sample.task.visible_pid;
  if (pid != 0) {
    complete_from_memory(LiveProcessMemory(static_cast<int>(pid)), bpf_.find_python(pid), sample);
  }
  return sample;
}

void Pipeline::handle_sample(const StackSample& sample) {
  const lumbre_task& task = sample.sample.task;
  if (task.visible_pid != 0 && processes_.find(task.visible_pid) == nullptr) {
    processes_.load(task.visible_pid);
  }
  const StackMemo::Entry stack = (sample.sample.flags & LUMBRE_SAMPLE_LOOKED) != 0
                                     ? stack_of(completed(sample))
                                     : stack_of(sample);
  PipelineCounts& counts = counts_of(sample);
  ++counts.shown;
  counts.bytes += sample.bytes;
  counts.approximate += stack.is_approximate ? 1 : 0;
  if (const auto found = collectors_.find(sample.sample.event); found != collectors_.end()) {
    found->second->take(sample, {stack.stack, stack.is_approximate});
  } else {
    store(sample, stack);
  }
}

void Pipeline::store(const StackSample& sample, const StackMemo::Entry& stack) {
  const lumbre_task& task = sample.sample.task;
  WeightedStack stored;
  stored.time_ns = sample.time_ns();
  stored.stack = stack.stack;
  stored.labels = labels_.of(task, stack.is_approximate);
  stored.weight = sample.sample.probability == 0xffffffff
                      ? sample.sample.weight
                      : static_cast<std::uint64_t>(static_cast<double>(sample.sample.weight) *
                                                   4294967295.0 / sample.sample.probability);
  stored.pid = task.visible_pid != 0 ? task.visible_pid : task.host_pid;
  stored.tid = task.visible_tid != 0 ? task.visible_tid : task.host_tid;
  stored.cpu = sample.sample.header.cpu;
  stored.event = sample.sample.event;
  store_.add(stored);
}

}  // namespace lumbre
