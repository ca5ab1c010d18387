#include "userspace/collectors/offcpu.h"

#include <time.h>

#include <algorithm>

namespace lumbre {
namespace {

constexpr double kCertain = 4294967295.0;
constexpr std::uint64_t kLookMinimumNs = 30'000'000;
// Besides the minimum and an interval between looks: rounds come late on a busy machine.
constexpr std::uint64_t kLookMarginNs = 20'000'000;
constexpr std::uint64_t kLookShare = 200;  // looks take at most one part in so many of the time
constexpr std::uint64_t kWakerMinimumNs = 5'000'000;
constexpr std::uint64_t kLeastCertainNs = 1'000'000;
constexpr std::uint64_t kMostCertainNs = 1'000'000'000;
constexpr std::uint64_t kAccountsIntervalNs = 3'000'000'000;  // for what is saved meanwhile
constexpr std::uint64_t kBudgetIntervalNs = 200'000'000;

std::uint64_t monotonic_now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(value + 0.5); }

// Of an open wait: since it was woken.
std::uint64_t runnable_part(const lumbre_thread& thread, std::uint64_t end_ns) {
  if (thread.wait == LUMBRE_WAIT_RUNNABLE) {
    return end_ns - thread.since_ns;
  }
  return thread.woken_ns > thread.since_ns && thread.woken_ns < end_ns ? end_ns - thread.woken_ns
                                                                       : 0;
}

ThreadTime time_of(const lumbre_thread& thread, std::uint64_t end_ns) {
  // It ran all the time: it never left its CPU.
  const bool is_unseen =
      thread.state == LUMBRE_THREAD_UNKNOWN && thread.since_ns == thread.first_ns;
  ThreadTime time;
  time.task = thread.task;
  time.elapsed_ns = end_ns - std::min<std::uint64_t>(thread.first_ns, end_ns);
  time.run_ns = thread.run_ns;
  std::copy(std::begin(thread.total), std::end(thread.total), time.waits.begin());
  const std::uint64_t open_ns = end_ns - std::min<std::uint64_t>(thread.since_ns, end_ns);
  if (thread.state == LUMBRE_THREAD_RUNS || is_unseen) {
    time.run_ns += open_ns;
  } else if (thread.state == LUMBRE_THREAD_WAITS && open_ns != 0) {
    const std::uint64_t runnable_ns = runnable_part(thread, end_ns);
    const std::uint32_t wait = std::min<std::uint32_t>(thread.wait, LUMBRE_WAIT_COUNT - 1);
    time.waits[wait].ns += open_ns - runnable_ns;
    time.waits[wait].count += wait != LUMBRE_WAIT_RUNNABLE ? 1 : 0;
    time.waits[LUMBRE_WAIT_RUNNABLE].ns += runnable_ns;
    time.waits[LUMBRE_WAIT_RUNNABLE].count += runnable_ns != 0 ? 1 : 0;
  }
  return time;
}

}  // namespace

const char* wait_name(std::uint32_t wait) {
  static constexpr const char* kNames[] = {
#define LUMBRE_WAIT_NAME(id, name, text) name,
      LUMBRE_WAITS(LUMBRE_WAIT_NAME)
#undef LUMBRE_WAIT_NAME
  };
  return kNames[wait < LUMBRE_WAIT_COUNT ? wait : 0];
}

OffCpuCollector::OffCpuCollector(BpfWaits& waits, SampleStore& store, TaskLabels& labels,
                                 Budget budget, std::function<void()> detach)
    : waits_(waits),
      store_(store),
      labels_(labels),
      budget_(std::move(budget)),
      detach_(std::move(detach)) {}

void OffCpuCollector::begin(std::uint64_t begin_ns) {
  begin_ns_ = begin_ns;
  settings_.begin_ns = begin_ns;
  settings_.certain_ns = kLeastCertainNs;
  settings_.long_ns = kLookMinimumNs + look_interval_ns_ + kLookMarginNs;
  settings_.look_minimum_ns = 0;
  settings_.waker_minimum_ns = budget_.takes_wakers ? kWakerMinimumNs : 0;
  settings_.look_opens = 1;
  static_cast<void>(waits_.set(settings_));
  static_cast<void>(waits_.look());
  settings_.look_minimum_ns = kLookMinimumNs;
  settings_.look_opens = 0;
  static_cast<void>(waits_.set(settings_));
  next_look_ns_ = begin_ns + look_interval_ns_;
  next_accounts_ns_ = begin_ns + kAccountsIntervalNs;
}

void OffCpuCollector::take(const StackSample& sample, const SampledStack& stack) {
  const lumbre_task& task = sample.sample.task;
  const bool is_looked = (sample.sample.flags & LUMBRE_SAMPLE_LOOKED) != 0;
  if ((sample.sample.flags & LUMBRE_SAMPLE_WAKER) != 0) {
    wakers_.insert_or_assign(
        {static_cast<std::uint32_t>(sample.sample.weight), sample.sample.key},
        Taken{stack, task, 0});
    return;
  }
  Taken taken{stack, task, is_looked ? monotonic_now_ns() : 0};
  if (is_looked) {  // what was sampled as the wait began is as good, and sure
    taken_.try_emplace({task.host_tid, sample.sample.key}, taken);
  } else {
    taken_.insert_or_assign({task.host_tid, sample.sample.key}, taken);
  }
}

void OffCpuCollector::apply(const Event& event) {
  if (const auto* wait = std::get_if<WaitEnded>(&event)) {
    end_wait(wait->record);
  } else if (const auto* account = std::get_if<ThreadAccount>(&event)) {
    const lumbre_thread& thread = account->record.thread;
    if (account->record.is_ended != 0) {
      accounts_.erase(thread.task.host_tid);
      end_thread(thread, account->record.header.time_ns);
    } else {
      accounts_.insert_or_assign(thread.task.host_tid, thread);
    }
  }
}

SampledStack OffCpuCollector::no_stack() {
  const FrameId frame = store_.frames.intern(
      {FrameKind::kTruncated, store_.texts.intern("no stack was taken of this wait"), 0});
  return {store_.stacks.insert(std::vector<FrameId>{frame}), false};
}

LabelSetId OffCpuCollector::labels_of(const lumbre_task& task, std::uint32_t wait,
                                      bool is_approximate, const Taken* waker) {
  const char* state = wait == LUMBRE_WAIT_RUNNABLE ? "runnable" : "blocked";
  LabelSet labels = {{"wait", wait_name(wait), 0}, {"state", state, 0}};
  if (waker != nullptr) {
    labels.push_back({kWakerLabel, waker->task.thread_name, 0});
    labels.push_back({kWakerStackLabel, "", waker->stack.stack});
  }
  return labels_.of(task, is_approximate, labels);
}

void OffCpuCollector::end_wait(const lumbre_wait_record& record) {
  const std::uint64_t ns = record.blocked_ns + record.runnable_ns;
  const std::uint32_t wait = std::min<std::uint32_t>(record.wait, LUMBRE_WAIT_COUNT - 1);
  const bool is_open = (record.flags & LUMBRE_WAIT_OPEN) != 0;
  const bool is_certain = is_open || ns >= settings_.long_ns;
  open_at_begin_ += is_open ? 1 : 0;
  const auto woken = wakers_.extract({record.host_tid, record.since_ns});
  const Taken* waker = woken.empty() ? nullptr : &woken.mapped();
  auto found = taken_.find({record.host_tid, record.since_ns});
  // The wait was over, and the stack perhaps another one, before it had been read from outside.
  if (found != taken_.end() && found->second.read_ns > record.since_ns + ns) {
    taken_.erase(found);
    found = taken_.end();
  }
  if (found != taken_.end()) {
    if (is_certain || (record.flags & LUMBRE_WAIT_SAMPLED) != 0) {
      const double probability = is_certain ? kCertain : record.probability;
      add(record.host_tid, found->second, wait, static_cast<double>(record.blocked_ns),
          probability, waker);
      add(record.host_tid, found->second, LUMBRE_WAIT_RUNNABLE,
          static_cast<double>(record.runnable_ns), probability);
    }
    taken_.erase(found);
  } else if (is_certain) {
    Weight& lost = estimates_[record.host_tid].without_stack[wait];
    lost.ns += static_cast<double>(record.blocked_ns);
    lost.count += wait != LUMBRE_WAIT_RUNNABLE ? 1 : 0;
  }
}

void OffCpuCollector::add(std::uint32_t host_tid, const Taken& taken, std::uint32_t wait, double ns,
                          double probability, const Taken* waker) {
  if (ns <= 0) {
    return;
  }
  const LabelSetId labels = labels_of(taken.task, wait, taken.stack.is_approximate, waker);
  Estimate& estimate = estimates_[host_tid].stacks[{wait, taken.stack.stack, labels}];
  if (probability >= kCertain) {
    estimate.certain.ns += ns;
    estimate.certain.count += 1;
  } else {
    estimate.sampled.ns += ns * kCertain / std::max(probability, 1.0);
    estimate.sampled.count += kCertain / std::max(probability, 1.0);
  }
}

void OffCpuCollector::look(std::uint64_t now_ns) {
  const std::uint64_t begin = monotonic_now_ns();
  static_cast<void>(waits_.look());
  const std::uint64_t took = monotonic_now_ns() - begin;
  look_interval_ns_ = std::max<std::uint64_t>(50'000'000, took * kLookShare);
  next_look_ns_ = now_ns + look_interval_ns_;
  settings_.long_ns = kLookMinimumNs + look_interval_ns_ + kLookMarginNs;
}

// Samples of short waits are taken as long as they cost no more than the budget.
void OffCpuCollector::keep_to_budget(std::uint64_t now_ns) {
  const std::uint64_t spent_ns = budget_.spent_ns();
  const std::uint64_t elapsed = now_ns - budget_time_ns_;
  if (budget_time_ns_ != 0 && elapsed != 0) {
    const double share =
        static_cast<double>(spent_ns - budget_spent_ns_) / static_cast<double>(elapsed);
    if (share > budget_.share_of_one_cpu) {
      settings_.certain_ns = std::min<std::uint64_t>(settings_.certain_ns * 2, kMostCertainNs);
    } else if (share < budget_.share_of_one_cpu / 4) {
      settings_.certain_ns = std::max<std::uint64_t>(settings_.certain_ns / 2, kLeastCertainNs);
    }
  }
  budget_spent_ns_ = spent_ns;
  budget_time_ns_ = now_ns;
}

void OffCpuCollector::run_round(std::uint64_t now_ns) {
  if (begin_ns_ == 0) {
    return;
  }
  const lumbre_wait_settings before = settings_;
  if (now_ns >= next_look_ns_) {
    look(now_ns);
  }
  if (now_ns >= next_accounts_ns_) {
    ask_for_accounts();
    next_accounts_ns_ = now_ns + kAccountsIntervalNs;
  }
  if (now_ns >= next_budget_ns_) {
    keep_to_budget(now_ns);
    next_budget_ns_ = now_ns + kBudgetIntervalNs;
  }
  if (before.certain_ns != settings_.certain_ns || before.long_ns != settings_.long_ns) {
    static_cast<void>(waits_.set(settings_));
  }
}

void OffCpuCollector::ask_for_accounts() {
  settings_.look_sends = 1;
  static_cast<void>(waits_.set(settings_));
  static_cast<void>(waits_.look());
  settings_.look_sends = 0;
  static_cast<void>(waits_.set(settings_));
}

void OffCpuCollector::ask_last() {
  settings_.look_minimum_ns = 0;
  static_cast<void>(waits_.set(settings_));
  static_cast<void>(waits_.look());
}

void OffCpuCollector::stop() {
  end_ns_ = monotonic_now_ns();
  detach_();
  ask_for_accounts();
}

void OffCpuCollector::finish() {
  for (const auto& [tid, thread] : accounts_) {
    if (thread.state == LUMBRE_THREAD_WAITS && end_ns_ > thread.since_ns) {
      close_open_wait(thread, end_ns_);
    } else {
      ThreadNow running;
      running.task = thread.task;
      at_end_.push_back(running);
    }
    end_thread(thread, end_ns_);
  }
  accounts_.clear();
}

// Every wait that is open at the end is in the profile: it stands for itself.
void OffCpuCollector::close_open_wait(const lumbre_thread& thread, std::uint64_t end_ns) {
  ++open_at_end_;
  open_at_begin_ += (thread.flags & LUMBRE_WAIT_OPEN) != 0 ? 1 : 0;
  const std::uint64_t runnable_ns = runnable_part(thread, end_ns);
  const std::uint64_t blocked_ns = end_ns - thread.since_ns - runnable_ns;
  const std::uint32_t wait = std::min<std::uint32_t>(thread.wait, LUMBRE_WAIT_COUNT - 1);
  const auto found = taken_.find({thread.task.host_tid, thread.since_ns});
  const bool has_stack = found != taken_.end() && found->second.read_ns <= end_ns;
  const Taken taken = has_stack ? found->second : Taken{no_stack(), thread.task};
  add(thread.task.host_tid, taken, wait, static_cast<double>(blocked_ns), kCertain);
  add(thread.task.host_tid, taken, LUMBRE_WAIT_RUNNABLE, static_cast<double>(runnable_ns),
      kCertain);
  const std::uint32_t state = runnable_ns != 0 ? std::uint32_t{LUMBRE_WAIT_RUNNABLE} : wait;
  at_end_.push_back({thread.task, true, state, end_ns - thread.since_ns,
                     (thread.flags & LUMBRE_WAIT_OPEN) != 0, taken.stack});
}

void OffCpuCollector::end_thread(const lumbre_thread& thread, std::uint64_t end_ns) {
  Ended ended{time_of(thread, end_ns), {}};
  if (const auto found = estimates_.find(thread.task.host_tid); found != estimates_.end()) {
    ended.estimates = std::move(found->second);
    estimates_.erase(found);
  }
  for (auto* waits : {&taken_, &wakers_}) {
    waits->erase(waits->lower_bound({thread.task.host_tid, 0}),
                 waits->lower_bound({thread.task.host_tid + 1, 0}));
  }
  ended_.push_back(std::move(ended));
}

std::vector<ThreadTime> OffCpuCollector::threads() const {
  std::vector<ThreadTime> times;
  for (const Ended& ended : ended_) {
    times.push_back(ended.time);
  }
  return times;
}

void OffCpuCollector::publish_reason(const ThreadTime& time, const ThreadEstimates& estimates,
                                     std::uint32_t wait, SampleStore::Totals& totals) {
  const auto first = estimates.stacks.lower_bound({wait, 0, 0});
  const auto last = estimates.stacks.lower_bound({wait + 1, 0, 0});
  Weight certain = estimates.without_stack[wait];
  Weight sampled;
  for (auto at = first; at != last; ++at) {
    certain.ns += at->second.certain.ns;
    certain.count += at->second.certain.count;
    sampled.ns += at->second.sampled.ns;
    sampled.count += at->second.sampled.count;
  }
  const double rest_ns = std::max(static_cast<double>(time.waits[wait].ns) - certain.ns, 0.0);
  const double rest_count =
      std::max(static_cast<double>(time.waits[wait].count) - certain.count, 0.0);
  const double ns_factor = sampled.ns > 0 ? rest_ns / sampled.ns : 0;
  const double count_factor = sampled.count > 0 ? rest_count / sampled.count : 0;
  for (auto at = first; at != last; ++at) {
    const Estimate& estimate = at->second;
    EventValues& values = totals[{std::get<1>(at->first), std::get<2>(at->first)}];
    values[0] += rounded(estimate.certain.count + estimate.sampled.count * count_factor);
    values[1] += rounded(estimate.certain.ns + estimate.sampled.ns * ns_factor);
  }
  Weight unseen = estimates.without_stack[wait];
  if (sampled.ns <= 0) {
    unseen.ns += rest_ns;
    unseen.count += rest_count;
  }
  if (unseen.ns >= 1) {
    EventValues& values = totals[{no_stack().stack, labels_of(time.task, wait, false)}];
    values[0] += rounded(unseen.count);
    values[1] += rounded(unseen.ns);
  }
}

void OffCpuCollector::publish_thread(const ThreadTime& time, const ThreadEstimates& estimates,
                                     SampleStore::Totals& totals) {
  for (std::uint32_t wait = 0; wait < LUMBRE_WAIT_COUNT; ++wait) {
    if (time.waits[wait].count != 0) {
      publish_reason(time, estimates, wait, totals);
    }
  }
}

void OffCpuCollector::publish() {
  SampleStore::Totals totals;
  for (const Ended& ended : ended_) {
    publish_thread(ended.time, ended.estimates, totals);
  }
  const std::uint64_t now_ns = monotonic_now_ns();
  static const ThreadEstimates kNone;
  for (const auto& [tid, thread] : accounts_) {  // while recording goes on
    const auto found = estimates_.find(tid);
    publish_thread(time_of(thread, now_ns), found == estimates_.end() ? kNone : found->second,
                   totals);
  }
  store_.replace_totals(LUMBRE_EVENT_OFFCPU, std::move(totals));
}

}  // namespace lumbre
