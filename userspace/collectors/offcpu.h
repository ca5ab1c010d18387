// OffCpuCollector: from accounts, sampled stacks and ends of waits to the profile of waiting.
//
// How long each thread waited for what is exact: the kernel programs account for it at every
// switch. By stack it is an estimate:
//   - A wait as long as `long_ns`, or open when the recording begins or ends, stands for itself. Its
//     stack was sampled when it began, or was looked at while it lasted.
//   - A shorter one stands for 1/p waits, if its stack was sampled with the probability p, which was
//     fixed before it began.
// The short ones of a thread and reason are then scaled to what the account has beyond the long
// ones. p follows a budget. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/collectors/collector.h"
#include "userspace/kernel/bpf_waits.h"

namespace lumbre {

// Labels of samples whose waker is known: its thread's name, and (not for output) its StackId.
inline constexpr const char* kWakerLabel = "woken_by";
inline constexpr const char* kWakerStackLabel = "waker stack";

const char* wait_name(std::uint32_t wait);  // the value of the label `wait`

// What became of one thread's time.
struct ThreadTime {
  lumbre_task task{};
  std::uint64_t elapsed_ns = 0;  // of the recording, while the thread lived
  std::uint64_t run_ns = 0;
  std::array<lumbre_wait_total, LUMBRE_WAIT_COUNT> waits{};
};

// What a thread did when the recording ended.
struct ThreadNow {
  lumbre_task task{};
  bool is_waiting = false;  // else it was on a CPU
  std::uint32_t wait = LUMBRE_WAIT_OTHER;
  std::uint64_t waited_ns = 0;
  bool is_older = false;  // the wait began before the recording, so it is longer than that
  SampledStack stack;     // of a wait
};

class OffCpuCollector : public Collector {
 public:
  struct Budget {
    double share_of_one_cpu = 0.01;
    bool takes_wakers = false;
    std::function<std::uint64_t()> spent_ns;  // on samples of this event so far
  };

  // `detach` ends the programs of sched_switch; looks go on.
  OffCpuCollector(BpfWaits& waits, SampleStore& store, TaskLabels& labels, Budget budget,
                  std::function<void()> detach);

  void begin(std::uint64_t begin_ns) override;
  void take(const StackSample& sample, const SampledStack& stack) override;
  void apply(const Event& event) override;
  void run_round(std::uint64_t now_ns) override;
  void ask_last() override;
  void stop() override;
  void finish() override;
  void publish() override;

  // Of all threads seen; complete after finish().
  std::vector<ThreadTime> threads() const;
  // Of the threads that lived at the end.
  const std::vector<ThreadNow>& at_end() const { return at_end_; }
  std::uint64_t open_at_begin() const { return open_at_begin_; }
  std::uint64_t open_at_end() const { return open_at_end_; }
  std::uint64_t certain_ns() const { return settings_.certain_ns; }

 private:
  using WaitKey = std::pair<std::uint32_t, std::uint64_t>;  // host tid, since when
  struct Taken {
    SampledStack stack;
    lumbre_task task{};
    std::uint64_t read_ns = 0;  // when its memory had been read from outside; 0: it was not
  };
  struct Weight {
    double count = 0;
    double ns = 0;
  };
  struct Estimate {
    Weight certain;
    Weight sampled;
  };
  // Of one thread: per reason, stack and labels.
  using StackKey = std::tuple<std::uint32_t, StackId, LabelSetId>;
  struct ThreadEstimates {
    std::map<StackKey, Estimate> stacks;
    std::array<Weight, LUMBRE_WAIT_COUNT> without_stack{};  // long ones, whose stack got lost
  };
  struct Ended {
    ThreadTime time;
    ThreadEstimates estimates;
  };

  void end_wait(const lumbre_wait_record& record);
  void ask_for_accounts();
  void add(std::uint32_t host_tid, const Taken& taken, std::uint32_t wait, double ns,
           double probability, const Taken* waker = nullptr);
  SampledStack no_stack();
  // `waker`: null where it is not known.
  LabelSetId labels_of(const lumbre_task& task, std::uint32_t wait, bool is_approximate,
                       const Taken* waker = nullptr);
  void look(std::uint64_t now_ns);
  void keep_to_budget(std::uint64_t now_ns);
  void end_thread(const lumbre_thread& thread, std::uint64_t end_ns);
  void close_open_wait(const lumbre_thread& thread, std::uint64_t end_ns);
  void publish_thread(const ThreadTime& time, const ThreadEstimates& estimates,
                      SampleStore::Totals& totals);
  void publish_reason(const ThreadTime& time, const ThreadEstimates& estimates, std::uint32_t wait,
                      SampleStore::Totals& totals);

  BpfWaits& waits_;
  SampleStore& store_;
  TaskLabels& labels_;
  Budget budget_;
  std::function<void()> detach_;
  lumbre_wait_settings settings_{};
  std::map<WaitKey, Taken> taken_;
  std::map<WaitKey, Taken> wakers_;  // by the wait that they ended
  std::map<std::uint32_t, ThreadEstimates> estimates_;  // by host tid
  std::vector<Ended> ended_;  // threads; after finish() all of them
  std::map<std::uint32_t, lumbre_thread> accounts_;  // of the others, as last asked for
  std::uint64_t end_ns_ = 0;
  std::vector<ThreadNow> at_end_;
  std::uint64_t begin_ns_ = 0;
  std::uint64_t next_look_ns_ = 0, next_accounts_ns_ = 0;
  std::uint64_t look_interval_ns_ = 50'000'000;
  std::uint64_t next_budget_ns_ = 0;
  std::uint64_t budget_spent_ns_ = 0, budget_time_ns_ = 0;
  std::uint64_t open_at_begin_ = 0, open_at_end_ = 0;
};

}  // namespace lumbre
