// PerfEvent: owner of one perf event (perf_event_open(2)) on one CPU, and of its ring if it has
// one.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

class PerfEvent {
 public:
  static Result<PerfEvent> open(perf_event_attr attributes, int pid, int cpu);
  PerfEvent(PerfEvent&& other) noexcept;
  PerfEvent& operator=(PerfEvent&&) = delete;
  ~PerfEvent();

  Result<void> set_program(int program_fd);
  Result<void> enable();
  Result<void> disable();
  // `pages` is a power of two.
  Result<void> map_ring(std::size_t pages);
  // Hands each waiting record (perf_event_header and what follows it) to the callback.
  void consume(const std::function<void(std::span<const std::byte>)>& callback);
  Result<std::uint64_t> read_count() const;
  int fd() const { return fd_.get(); }

 private:
  explicit PerfEvent(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  void* ring_ = nullptr;  // perf_event_mmap_page, then the data pages
  std::size_t ring_bytes_ = 0;
};

// The numbers of a kernel CPU list such as "0-3,8"; empty where the text is none.
std::vector<int> parse_cpu_list(const std::string& text);
std::vector<int> online_cpus();

enum class SamplingClock { kCycles, kCpuClock };

struct CpuSampling {
  SamplingClock clock = SamplingClock::kCpuClock;
  std::vector<PerfEvent> events;  // one per online CPU, not enabled yet
};

// Hardware cycles where the machine counts them, else the kernel's cpu-clock.
SamplingClock find_sampling_clock();
// `frequency_hz` per CPU, idle time left out, kernel mode included.
Result<CpuSampling> open_cpu_sampling(SamplingClock clock, std::uint32_t frequency_hz,
                                      int program_fd);

// What the CPUs did since boot, all added up.
struct MachineTimes {
  std::uint64_t busy_ns = 0;    // neither idle nor stolen
  std::uint64_t stolen_ns = 0;  // a CPU wanted to run and its hypervisor ran something else
};
// From the text of /proc/stat (lines "cpuN user nice system idle iowait irq softirq steal ...", in
// clock ticks, guest time included in user time); zeros where it does not parse.
MachineTimes machine_times(const std::string& proc_stat, long ticks_per_second);

}  // namespace lumbre
