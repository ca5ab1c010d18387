#include "output/perfetto.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "output/chunked_output.h"
#include "output/perfetto_fields.h"
#include "output/perfetto_interner.h"
#include "output/proto_writer.h"
#include "output/utf8.h"

namespace lumbre::output {
namespace {

using namespace perfetto;

// All packets are on one sequence: interning ids hold per sequence.
constexpr std::uint32_t kSequence = 1;

class PerfettoWriter {
 public:
  PerfettoWriter(const PerfettoTrace& trace, std::ostream& out)
      : trace_(trace), interner_(*trace.profile, trace.stacks), output_(out) {}

  bool write();

 private:
  std::vector<std::uint32_t> samples_in_time_order() const;
  std::uint64_t trace_time(std::uint64_t monotonic_ns) const {
    return monotonic_ns + trace_.boot_minus_monotonic_ns;  // CLOCK_BOOTTIME, the format's default
  }
  void begin_packet(std::uint64_t monotonic_ns, std::uint32_t sequence_flags);
  void end_packet();
  void write_first_packet(std::uint64_t start_ns);
  void write_clocks(std::uint64_t start_ns);
  void add_clock(ProtoWriter& snapshot, std::uint32_t id, std::uint64_t time_ns);
  void write_process_tree(std::uint64_t start_ns);
  void write_sample(const TimedSample& sample);
  bool is_kernel_sample(const TimedSample& sample) const;

  const PerfettoTrace& trace_;
  PerfettoInterner interner_;
  ChunkedOutput output_;
  std::unordered_map<std::uint32_t, std::uint64_t> counts_by_cpu_;
  ProtoWriter packet_, message_, nested_, interned_, framed_;
};

bool PerfettoWriter::write() {
  const std::vector<std::uint32_t> order = samples_in_time_order();
  const auto sample_at = [&](std::size_t i) -> const TimedSample& {
    return trace_.samples[order.empty() ? i : order[i]];
  };
  const std::uint64_t start = trace_.samples.empty() ? 0 : sample_at(0).time_ns;
  write_first_packet(start);
  write_process_tree(start);
  for (std::size_t i = 0; i < trace_.samples.size(); ++i) write_sample(sample_at(i));
  return output_.finish();
}

// Empty when they are in order already.
std::vector<std::uint32_t> PerfettoWriter::samples_in_time_order() const {
  const std::vector<TimedSample>& samples = trace_.samples;
  const auto is_earlier = [](const TimedSample& a, const TimedSample& b) {
    return a.time_ns < b.time_ns;
  };
  if (std::is_sorted(samples.begin(), samples.end(), is_earlier)) return {};
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return is_earlier(samples[a], samples[b]);
  });
  return order;
}

void PerfettoWriter::begin_packet(std::uint64_t monotonic_ns, std::uint32_t sequence_flags) {
  packet_.clear();
  packet_.always_uint(packet::kTimestamp, trace_time(monotonic_ns));
  packet_.uint(packet::kSequenceId, kSequence);
  packet_.uint(packet::kSequenceFlags, sequence_flags);
}

void PerfettoWriter::end_packet() {
  framed_.clear();
  framed_.message(kTracePacket, packet_);
  output_ << framed_.data();
  output_.settle();
}

void PerfettoWriter::write_first_packet(std::uint64_t start_ns) {
  begin_packet(start_ns, packet::kStateCleared);
  packet_.boolean(packet::kFirstPacketOnSequence, true);
  write_clocks(start_ns);
  ProtoWriter timebase, sample_defaults;
  timebase.uint(defaults::kCounter, defaults::kSoftwareCpuClock);
  timebase.bytes(defaults::kName, "samples");
  sample_defaults.message(defaults::kTimebase, timebase);
  message_.clear();
  message_.message(defaults::kPerfSample, sample_defaults);
  packet_.message(packet::kDefaults, message_);
  end_packet();
}

void PerfettoWriter::write_clocks(std::uint64_t start_ns) {
  message_.clear();
  add_clock(message_, clock_snapshot::kBoottime, trace_time(start_ns));
  add_clock(message_, clock_snapshot::kMonotonic, start_ns);
  add_clock(message_, clock_snapshot::kRealtime,
            start_ns + static_cast<std::uint64_t>(trace_.wall_minus_monotonic_ns));
  message_.uint(clock_snapshot::kPrimaryClock, clock_snapshot::kBoottime);
  packet_.message(packet::kClockSnapshot, message_);
}

void PerfettoWriter::add_clock(ProtoWriter& snapshot, std::uint32_t id, std::uint64_t time_ns) {
  nested_.clear();
  nested_.uint(clock_snapshot::kClockId, id);
  nested_.always_uint(clock_snapshot::kTimestamp, time_ns);
  snapshot.message(clock_snapshot::kClocks, nested_);
}

void PerfettoWriter::write_process_tree(std::uint64_t start_ns) {
  message_.clear();
  std::unordered_map<std::uint32_t, bool> is_written;
  std::string valid;
  for (const PerfettoThread& thread : trace_.threads) {
    if (!is_written[thread.pid]) {
      is_written[thread.pid] = true;
      valid.clear();
      append_valid_utf8(valid, thread.process_name);
      nested_.clear();
      nested_.uint(process_tree::kPid, thread.pid);
      nested_.bytes(process_tree::kCommandLine, valid);
      message_.message(process_tree::kProcesses, nested_);
    }
    valid.clear();
    append_valid_utf8(valid, thread.thread_name);
    nested_.clear();
    nested_.uint(process_tree::kTid, thread.tid);
    nested_.bytes(process_tree::kThreadName, valid);
    nested_.uint(process_tree::kThreadPid, thread.pid);
    message_.message(process_tree::kThreads, nested_);
  }
  begin_packet(start_ns, packet::kNeedsState);
  packet_.message(packet::kProcessTree, message_);
  end_packet();
}

// The format has no weight: a sample is one row, and what it stands for is in its CPU's counter.
void PerfettoWriter::write_sample(const TimedSample& sample) {
  begin_packet(sample.time_ns, packet::kNeedsState);
  interned_.clear();
  const std::uint64_t callstack = interner_.callstack(sample.stack, interned_);
  if (interned_.size() != 0) packet_.message(packet::kInternedData, interned_);
  std::uint64_t& count = counts_by_cpu_[sample.cpu];
  count += sample.weight;
  message_.clear();
  message_.always_uint(perf_sample::kCpu, sample.cpu);
  message_.always_uint(perf_sample::kPid, sample.pid);
  message_.always_uint(perf_sample::kTid, sample.tid);
  message_.uint(perf_sample::kCallstack, callstack);
  message_.uint(perf_sample::kCpuMode,
                is_kernel_sample(sample) ? perf_sample::kModeKernel : perf_sample::kModeUser);
  message_.always_uint(perf_sample::kTimebaseCount, count);
  packet_.message(packet::kPerfSample, message_);
  end_packet();
}

bool PerfettoWriter::is_kernel_sample(const TimedSample& sample) const {
  if (sample.stack >= trace_.stacks.size() || trace_.stacks[sample.stack].empty()) return false;
  const LocationId leaf = trace_.stacks[sample.stack].front();
  return leaf < trace_.profile->locations.size() &&
         trace_.profile->locations[leaf].kind == FrameKind::kKernel;
}

}  // namespace

bool write_perfetto(const PerfettoTrace& trace, std::ostream& out) {
  return PerfettoWriter(trace, out).write();
}

}  // namespace lumbre::output
