#include "userspace/recording/recording.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace lumbre {
namespace {

using Clock = std::chrono::steady_clock;

// Samples do not wake Lumbre up: it looks this often.
constexpr int kRoundMilliseconds = 20;
// At most ten seconds of a recording may be lost with Lumbre itself.
constexpr std::chrono::seconds kCheckpointInterval{7};
constexpr int kCheckpointShare = 50;  // saving takes at most one part in so many of the time
constexpr int kRecordingNice = -10;
constexpr std::uint64_t kInitialPidNamespaceInode = 0xEFFFFFFC;  // PROC_PID_INIT_INO

std::uint64_t clock_ns(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The inode of our own PID namespace, 0 for the initial one.
std::uint32_t own_pid_namespace() {
  struct stat status = {};
  if (::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kInitialPidNamespaceInode) {
    return 0;
  }
  return static_cast<std::uint32_t>(status.st_ino);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

MachineTimes read_machine_times() {
  std::ifstream file("/proc/stat");
  std::stringstream text;
  text << file.rdbuf();
  return machine_times(text.str(), ::sysconf(_SC_CLK_TCK));
}

BpfSettings settings_for(const RecordOptions& options, SamplingClock clock) {
  BpfSettings settings;
  settings.ring_bytes = options.ring_bytes;
  settings.events = {options.events.begin(), options.events.end()};
  settings.config.is_whole_machine = options.mode == TargetMode::kWholeMachine ? 1 : 0;
  settings.config.follows_children = options.follows_children ? 1 : 0;
  settings.config.pid_namespace_inode = own_pid_namespace();
  settings.config.check_one_in = options.self_check_one_in;
  settings.config.cpu_weight_ns =
      clock == SamplingClock::kCycles ? 0 : 1'000'000'000ULL / options.frequency_hz;
  return settings;
}

}  // namespace

// On a machine with hundreds of runnable threads Lumbre would wait seconds for a CPU, and lose what
// finds no room meanwhile. It needs little of one; names and files are made at the usual priority.
void Recording::raise_priority() {
  errno = 0;
  const int usual = ::getpriority(PRIO_PROCESS, 0);
  if (errno == 0 && usual > kRecordingNice && ::setpriority(PRIO_PROCESS, 0, kRecordingNice) == 0) {
    usual_nice_ = usual;
  }
}

void Recording::restore_priority() {
  if (usual_nice_.has_value()) {
    ::setpriority(PRIO_PROCESS, 0, *usual_nice_);
  }
}

std::uint32_t default_ring_bytes() {
  constexpr std::uint64_t kPerCpu = 256 << 10;
  const auto cpus = static_cast<std::uint64_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::bit_ceil(cpus * kPerCpu), 4 << 20, 64 << 20));
}

Recording::~Recording() = default;

Result<std::unique_ptr<Recording>> Recording::prepare(const RecordOptions& options) {
  std::unique_ptr<Recording> recording(new Recording);
  LUMBRE_TRY(recording->set_up(options));
  return recording;
}

Result<void> Recording::set_up(const RecordOptions& options) {
  facts_.options = options;
  shows_progress_ = !options.is_quiet && ::isatty(STDERR_FILENO) != 0;
  facts_.clock = find_sampling_clock();
  if (options.mode == TargetMode::kCommand) {
    LUMBRE_TRY_ASSIGN(command_, SpawnedCommand::start(options.command));
    facts_.options.pids = {static_cast<std::uint32_t>(command_->pid())};
  }
  raise_priority();
  LUMBRE_TRY_ASSIGN(bpf_, BpfObject::load(settings_for(options, facts_.clock)));
  facts_.classic_reason = bpf_->classic_reason();
  LUMBRE_TRY_ASSIGN(Sideband sideband, Sideband::open());
  sideband_ = std::make_unique<Sideband>(std::move(sideband));
  pipeline_ = std::make_unique<Pipeline>(*bpf_, *sideband_, options);
  LUMBRE_TRY(bpf_->attach_lifecycle());
  LUMBRE_TRY(add_targets());
  LUMBRE_TRY(add_collectors());
  if (!options.has_event(LUMBRE_EVENT_CPU)) {
    return {};
  }
  LUMBRE_TRY_ASSIGN(CpuSampling sampling,
                    open_cpu_sampling(facts_.clock, options.frequency_hz, bpf_->cpu_program_fd()));
  events_ = std::move(sampling.events);
  return {};
}

Result<void> Recording::add_collectors() {
  const RecordOptions& options = facts_.options;
  if (options.has_event(LUMBRE_EVENT_OFFCPU)) {
    LUMBRE_TRY(bpf_->attach_waits());
    OffCpuCollector::Budget budget{options.budget_percent / 100, options.takes_wakers, [this] {
      return bpf_->read_event_counters()[LUMBRE_EVENT_OFFCPU][LUMBRE_EVENT_COUNTER_CAPTURE_NS];
    }};
    auto collector = std::make_unique<OffCpuCollector>(bpf_->waits(), pipeline_->store(),
                                                       pipeline_->labels(), std::move(budget),
                                                       [this] { bpf_->detach_waits(); });
    facts_.offcpu = collector.get();
    pipeline_->add_collector(LUMBRE_EVENT_OFFCPU, std::move(collector));
  }
  return {};
}

// The kernel programs follow forks already, so a child of this moment is seen twice, not never.
Result<void> Recording::add_targets() {
  if (facts_.options.mode == TargetMode::kWholeMachine) {
    pipeline_->follow_all();
    for (const std::uint32_t pid : list_processes()) {
      pipeline_->add_process(pid);
    }
    return {};
  }
  if (!facts_.options.follows_children) {
    facts_.children_left_out =
        find_process_tree(facts_.options.pids).size() - facts_.options.pids.size();
  }
  std::size_t known = 0;
  std::vector<std::uint32_t> tree = facts_.options.pids;
  do {
    known = tree.size();
    for (const std::uint32_t pid : tree) {
      LUMBRE_TRY(bpf_->add_target(pid));
    }
    if (facts_.options.follows_children) {
      tree = find_process_tree(facts_.options.pids);
    }
  } while (tree.size() > known);
  for (const std::uint32_t pid : tree) {
    pipeline_->add_process(pid);
  }
  return {};
}

Result<void> Recording::start_sampling() {
  for (PerfEvent& event : events_) {
    LUMBRE_TRY(event.enable());
  }
  machine_at_start_ = read_machine_times();
  start_ = Clock::now();
  next_checkpoint_ = start_ + kCheckpointInterval;
  facts_.start_wall_ns = clock_ns(CLOCK_REALTIME);
  facts_.start_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
  facts_.start_boot_ns = clock_ns(CLOCK_BOOTTIME);
  pipeline_->begin(facts_.start_monotonic_ns);
  return {};
}

void Recording::wait_for_events(int timeout_ms) const {
  std::vector<pollfd> waiting = {{bpf_->ring_poll_fd(), POLLIN, 0}};
  for (const PerfEvent& event : sideband_->events()) {
    waiting.push_back({event.fd(), POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), timeout_ms);
}

bool Recording::is_over(const std::atomic<bool>& stop) {
  if (stop.load(std::memory_order_relaxed)) {
    facts_.is_interrupted = true;
    return true;
  }
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  if (facts_.options.duration_s.has_value() && elapsed.count() >= *facts_.options.duration_s) {
    return true;
  }
  if (command_ != nullptr) {
    return command_->poll().has_value();
  }
  return facts_.options.mode == TargetMode::kProcesses && !pipeline_->has_live_targets();
}

void Recording::show_progress() {
  if (!shows_progress_ || Clock::now() < next_progress_) {
    return;
  }
  next_progress_ = Clock::now() + std::chrono::seconds(1);
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  const EventCounterValues counters = bpf_->read_event_counters();
  std::uint64_t shown = 0;
  std::uint64_t lost = 0;
  for (const std::uint32_t event : facts_.options.events) {
    shown += pipeline_->counts(event).shown;
    lost += counters[event][LUMBRE_EVENT_COUNTER_NO_ROOM];
  }
  std::fprintf(stderr, "\r%.0f s, %llu samples, %llu lost ", elapsed.count(),
               static_cast<unsigned long long>(shown), static_cast<unsigned long long>(lost));
}

Result<void> Recording::run(const std::atomic<bool>& stop) {
  LUMBRE_TRY(start_sampling());
  if (command_ != nullptr) {
    if (const int failure = command_->release(); failure != 0) {
      return Error::system(failure, "cannot run " + facts_.options.command.front());
    }
  }
  while (!is_over(stop)) {
    wait_for_events(kRoundMilliseconds);
    pipeline_->run_round();
    show_progress();
    save_checkpoint();
  }
  finish();
  return {};
}

void Recording::save_checkpoint() {
  if (checkpoint_ == nullptr || Clock::now() < next_checkpoint_) {
    return;
  }
  read_facts();
  pipeline_->publish();
  const auto begin = Clock::now();
  checkpoint_();
  const auto took = Clock::now() - begin;
  next_checkpoint_ =
      Clock::now() + std::max<Clock::duration>(kCheckpointInterval, took * kCheckpointShare);
}

// Also how long a cycle took on the average: the CPUs' busy time over the cycles they counted in it.
void Recording::read_machine_facts() {
  std::uint64_t cycles = 0;
  for (const PerfEvent& event : events_) {
    cycles += event.read_count().value_or(0);
  }
  const MachineTimes now = read_machine_times();
  const std::uint64_t busy_ns = now.busy_ns - machine_at_start_.busy_ns;
  facts_.stolen_ns = now.stolen_ns - machine_at_start_.stolen_ns;
  if (facts_.clock == SamplingClock::kCycles && cycles != 0) {
    facts_.ns_per_weight = static_cast<double>(busy_ns) / static_cast<double>(cycles);
  }
}

void Recording::read_facts() {
  read_machine_facts();
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  facts_.duration_s = elapsed.count();
  facts_.counters = bpf_->read_counters();
  facts_.event_counters = bpf_->read_event_counters();
  facts_.bpf_cost = bpf_->read_cost();
  facts_.kernel_memory_bytes = bpf_->kernel_memory_bytes();
  update_own_cost();
}

void Recording::update_own_cost() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  facts_.own_cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  facts_.own_peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void Recording::finish() {
  for (PerfEvent& event : events_) {
    static_cast<void>(event.disable());
  }
  const std::chrono::duration<double> elapsed = Clock::now() - start_;
  pipeline_->stop();
  pipeline_->finish();
  restore_priority();
  if (shows_progress_) {
    std::fputs("\r\033[K", stderr);
  }
  read_facts();
  pipeline_->publish();
  facts_.duration_s = elapsed.count();
  facts_.is_complete = true;
  if (command_ != nullptr) {
    command_status_ = command_->poll().value_or(0);
  }
}

}  // namespace lumbre
