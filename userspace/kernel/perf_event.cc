#include "userspace/kernel/perf_event.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace lumbre {
namespace {

constexpr std::size_t kPageBytes = 4096;

Result<std::vector<PerfEvent>> open_on_all_cpus(const perf_event_attr& attributes) {
  std::vector<PerfEvent> events;
  for (const int cpu : online_cpus()) {
    LUMBRE_TRY_ASSIGN(PerfEvent event, PerfEvent::open(attributes, -1, cpu));
    events.push_back(std::move(event));
  }
  return events;
}

perf_event_attr sampling_attributes(SamplingClock clock, std::uint32_t frequency_hz) {
  perf_event_attr attributes = {};
  const bool is_hardware = clock == SamplingClock::kCycles;
  attributes.type = is_hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  attributes.config = is_hardware ? static_cast<__u64>(PERF_COUNT_HW_CPU_CYCLES)
                                  : static_cast<__u64>(PERF_COUNT_SW_CPU_CLOCK);
  attributes.freq = 1;
  attributes.sample_freq = frequency_hz;
  attributes.disabled = 1;
  attributes.exclude_idle = 1;
  attributes.exclude_guest = is_hardware ? 1 : 0;
  return attributes;
}

}  // namespace

Result<PerfEvent> PerfEvent::open(perf_event_attr attributes, int pid, int cpu) {
  attributes.size = sizeof(attributes);
  UniqueFd fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd.is_open()) {
    return Error::system(errno, "cannot open a perf event on CPU " + std::to_string(cpu));
  }
  return PerfEvent(std::move(fd));
}

PerfEvent::PerfEvent(PerfEvent&& other) noexcept
    : fd_(std::move(other.fd_)),
      ring_(std::exchange(other.ring_, nullptr)),
      ring_bytes_(std::exchange(other.ring_bytes_, 0)) {}

PerfEvent::~PerfEvent() {
  if (ring_ != nullptr) {
    ::munmap(ring_, ring_bytes_);
  }
}

Result<void> PerfEvent::set_program(int program_fd) {
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_SET_BPF, program_fd) != 0) {
    return Error::system(errno, "cannot attach the sampling program to a perf event");
  }
  return {};
}

Result<void> PerfEvent::enable() {
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
    return Error::system(errno, "cannot enable a perf event");
  }
  return {};
}

Result<void> PerfEvent::disable() {
  if (::ioctl(fd_.get(), PERF_EVENT_IOC_DISABLE, 0) != 0) {
    return Error::system(errno, "cannot disable a perf event");
  }
  return {};
}

Result<std::uint64_t> PerfEvent::read_count() const {
  std::uint64_t count = 0;
  if (::read(fd_.get(), &count, sizeof(count)) != sizeof(count)) {
    return Error::system(errno, "cannot read a perf event");
  }
  return count;
}

Result<void> PerfEvent::map_ring(std::size_t pages) {
  const std::size_t bytes = (pages + 1) * kPageBytes;
  void* ring = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (ring == MAP_FAILED) {
    return Error::system(errno, "cannot map the ring of a perf event");
  }
  ring_ = ring;
  ring_bytes_ = bytes;
  return {};
}

void PerfEvent::consume(const std::function<void(std::span<const std::byte>)>& callback) {
  auto* page = static_cast<perf_event_mmap_page*>(ring_);
  const auto* data = static_cast<const std::byte*>(ring_) + kPageBytes;
  const std::size_t size = ring_bytes_ - kPageBytes;
  std::atomic_ref<__u64> head_word(page->data_head);
  std::atomic_ref<__u64> tail_word(page->data_tail);
  const std::uint64_t head = head_word.load(std::memory_order_acquire);
  std::uint64_t tail = tail_word.load(std::memory_order_relaxed);
  std::vector<std::byte> record;
  while (tail < head) {
    // A record may wrap around the end of the ring, so it is put together first.
    perf_event_header header;
    for (std::size_t i = 0; i < sizeof(header); ++i) {
      reinterpret_cast<std::byte*>(&header)[i] = data[(tail + i) % size];
    }
    if (header.size < sizeof(header)) {
      tail = head;
      break;
    }
    record.resize(header.size);
    const std::size_t first = std::min<std::size_t>(header.size, size - tail % size);
    std::memcpy(record.data(), data + tail % size, first);
    std::memcpy(record.data() + first, data, header.size - first);
    callback(record);
    tail += header.size;
  }
  tail_word.store(tail, std::memory_order_release);
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  const char* position = text.data();
  const char* end = position + text.size();
  while (position < end) {
    int first = 0;
    auto parsed = std::from_chars(position, end, first);
    if (parsed.ec != std::errc{}) {
      break;
    }
    int last = first;
    if (parsed.ptr < end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    }
    for (int cpu = first; cpu <= last; ++cpu) {
      cpus.push_back(cpu);
    }
    position = parsed.ptr + 1;
  }
  return cpus;
}

std::vector<int> online_cpus() {
  std::string text;
  std::ifstream file("/sys/devices/system/cpu/online");
  std::getline(file, text);
  std::vector<int> cpus = parse_cpu_list(text);
  if (cpus.empty()) {
    for (int cpu = 0; cpu < static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); ++cpu) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

SamplingClock find_sampling_clock() {
  return PerfEvent::open(sampling_attributes(SamplingClock::kCycles, 99), -1, 0).has_value()
             ? SamplingClock::kCycles
             : SamplingClock::kCpuClock;
}

Result<CpuSampling> open_cpu_sampling(SamplingClock clock, std::uint32_t frequency_hz,
                                      int program_fd) {
  CpuSampling sampling;
  sampling.clock = clock;
  LUMBRE_TRY_ASSIGN(sampling.events, open_on_all_cpus(sampling_attributes(clock, frequency_hz)));
  for (PerfEvent& event : sampling.events) {
    LUMBRE_TRY(event.set_program(program_fd));
  }
  return sampling;
}

MachineTimes machine_times(const std::string& proc_stat, long ticks_per_second) {
  std::istringstream lines(proc_stat);
  std::uint64_t busy_ticks = 0;
  std::uint64_t stolen_ticks = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    std::uint64_t user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0;
    if (fields >> name && name.starts_with("cpu") && name != "cpu" &&
        fields >> user >> nice >> system >> idle >> iowait >> irq >> softirq) {
      std::uint64_t steal = 0;
      fields >> steal;
      busy_ticks += user + nice + system + irq + softirq;
      stolen_ticks += steal;
    }
  }
  if (ticks_per_second <= 0) {
    return {};
  }
  const std::uint64_t ns_per_tick = 1'000'000'000ULL / static_cast<std::uint64_t>(ticks_per_second);
  return {busy_ticks * ns_per_tick, stolen_ticks * ns_per_tick};
}

}  // namespace lumbre
