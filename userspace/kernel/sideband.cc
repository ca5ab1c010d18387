#include "userspace/kernel/sideband.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "symbolizer/base/byte_reader.h"

namespace lumbre {
namespace {

constexpr std::size_t kRingPages = 64;

perf_event_attr sideband_attributes() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.sample_id_all = 1;
  attributes.sample_type = PERF_SAMPLE_TIME;  // so that every record ends with its time
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.watermark = 0;
  attributes.wakeup_events = 1;
  return attributes;
}

// PERF_RECORD_MMAP2: pid, tid, addr, len, pgoff, maj, min, ino, ino_generation, prot, flags, name.
std::optional<MappingAdded> parse_mapping(ByteReader& reader) {
  MappingAdded mapping;
  mapping.pid = reader.u32();
  reader.skip(4);
  mapping.start = {reader.u64()};
  mapping.size_bytes = reader.u64();
  mapping.offset = {reader.u64()};
  mapping.device_major = reader.u32();
  mapping.device_minor = reader.u32();
  mapping.inode = reader.u64();
  reader.skip(8);
  const std::uint32_t protection = reader.u32();
  reader.skip(4);
  mapping.path = reader.c_string();
  if (reader.is_failed() || (protection & PROT_EXEC) == 0) {
    return std::nullopt;
  }
  return mapping;
}

template <typename T>
void add(std::vector<SidebandEvent>& out, std::uint64_t time_ns, T what) {
  out.push_back({time_ns, std::move(what)});
}

void parse_record(std::span<const std::byte> bytes, std::vector<SidebandEvent>& out) {
  perf_event_header header;
  std::uint64_t time_ns = 0;
  if (bytes.size() < sizeof(header) + sizeof(time_ns)) {
    return;
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  std::memcpy(&time_ns, bytes.data() + bytes.size() - sizeof(time_ns), sizeof(time_ns));
  ByteReader reader(bytes, sizeof(header));
  switch (header.type) {
    case PERF_RECORD_MMAP2:
      if (auto mapping = parse_mapping(reader)) {
        add(out, time_ns, *std::move(mapping));
      }
      break;
    case PERF_RECORD_COMM:
      if ((header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
        add(out, time_ns, ProcessExecuted{reader.u32()});
      }
      break;
    case PERF_RECORD_FORK: {
      const std::uint32_t pid = reader.u32();
      const std::uint32_t parent = reader.u32();
      if (pid != parent) {
        add(out, time_ns, ProcessForked{pid, parent});
      }
      break;
    }
    case PERF_RECORD_EXIT: {
      const std::uint32_t pid = reader.u32();
      reader.skip(4);
      if (pid == reader.u32()) {
        add(out, time_ns, ProcessExited{pid});
      }
      break;
    }
    case PERF_RECORD_LOST:
      reader.skip(8);
      add(out, time_ns, SidebandLost{reader.u64()});
      break;
    default:
      break;
  }
}

// Processes outside our PID namespace all have the pid 0 (or none): nothing can be said of them.
bool is_visible(const SidebandEvent& event) {
  const auto pid_of = [](const auto& what) -> std::uint32_t {
    if constexpr (requires { what.pid; }) {
      return what.pid;
    } else {
      return 1;
    }
  };
  const std::uint32_t pid = std::visit(pid_of, event.what);
  return pid != 0 && pid != ~std::uint32_t{0};
}

}  // namespace

Result<Sideband> Sideband::open() {
  std::vector<PerfEvent> events;
  for (const int cpu : online_cpus()) {
    LUMBRE_TRY_ASSIGN(PerfEvent event, PerfEvent::open(sideband_attributes(), -1, cpu));
    // The locked-memory allowance for perf rings is small and shared: settle for less.
    std::size_t pages = kRingPages;
    Result<void> mapped = event.map_ring(pages);
    while (!mapped.has_value() && pages > 4) {
      pages /= 2;
      mapped = event.map_ring(pages);
    }
    LUMBRE_TRY(std::move(mapped));
    events.push_back(std::move(event));
  }
  return Sideband(std::move(events));
}

std::vector<SidebandEvent> Sideband::drain() {
  std::vector<SidebandEvent> drained;
  for (PerfEvent& event : events_) {
    event.consume([&](std::span<const std::byte> bytes) { parse_record(bytes, drained); });
  }
  std::erase_if(drained, [](const SidebandEvent& event) { return !is_visible(event); });
  std::stable_sort(drained.begin(), drained.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return drained;
}

}  // namespace lumbre
