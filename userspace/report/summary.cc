#include "userspace/report/summary.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "userspace/version.h"

namespace lumbre {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNotableStolenShare = 0.02;  // of the time shown

const char* mode_name(TargetMode mode) {
  switch (mode) {
    case TargetMode::kWholeMachine:
      return "all";
    case TargetMode::kCommand:
      return "command";
    default:
      return "pid";
  }
}

const char* clock_name(SamplingClock clock) {
  return clock == SamplingClock::kCycles ? "cycles" : "cpu-clock";
}

std::string kernel_release() {
  utsname name = {};
  ::uname(&name);
  return name.release;
}

double rounded(double value) {
  return static_cast<double>(static_cast<long long>(value * 1e6)) / 1e6;
}

Json cost_json(const RecordingFacts& facts) {
  const double bpf_s = static_cast<double>(facts.bpf_cost.run_time_ns) * 1e-9;
  Json cost;
  cost["cpu_seconds"] = rounded(facts.own_cpu_s);
  if (facts.bpf_cost.run_count != 0) {
    cost["bpf_seconds"] = rounded(bpf_s);
  }
  cost["rss_bytes"] = facts.own_peak_rss_bytes;
  cost["kernel_bytes"] = facts.kernel_memory_bytes;
  if (facts.duration_s > 0) {
    cost["share_of_one_cpu"] = rounded((facts.own_cpu_s + bpf_s) / facts.duration_s);
  }
  return cost;
}

Json event_json(const RecordingFacts& facts, const Pipeline& pipeline) {
  const PipelineCounts& counts = pipeline.counts();
  Json event;
  const auto lost = losses_of(facts, pipeline);
  std::uint64_t lost_sum = 0;
  event["lost"] = Json::object();
  for (const auto& [cause, count] : lost) {
    event["lost"][cause] = count;
    lost_sum += count;
  }
  event["samples"] = counts.shown + lost_sum;
  event["shown"] = counts.shown;
  event["truncated"] = Json::object();
  for (const auto& [cause, count] : counts.truncated) {
    event["truncated"][cause] = count;
  }
  event["approximate"] = counts.approximate;
  if (const std::uint64_t taken = facts.counters[LUMBRE_COUNTER_SENT]; taken != 0) {
    event["ns_per_sample"] = facts.counters[LUMBRE_COUNTER_CAPTURE_NS] / taken;
  }
  if (counts.shown != 0) {
    event["bytes_per_sample"] = counts.bytes / counts.shown;
  }
  return event;
}

// How the walk in the kernel did; a mismatch is a fault of Lumbre.
Json kernel_walk_json(const RecordingFacts& facts, const Pipeline& pipeline) {
  static constexpr const char* kNames[] = {
#define LUMBRE_WALK_END_NAME(id, name, text) name,
      LUMBRE_WALK_ENDS(LUMBRE_WALK_END_NAME)
#undef LUMBRE_WALK_END_NAME
  };
  const KernelWalk& walk = pipeline.kernel_walk();
  Json json;
  json["ends"] = Json::object();
  for (std::size_t i = 0; i < LUMBRE_WALK_END_COUNT; ++i) {
    if (walk.counts().ends[i] != 0) {
      json["ends"][kNames[i]] = walk.counts().ends[i];
    }
  }
  const std::uint64_t frames = facts.counters[LUMBRE_COUNTER_NATIVE_FRAMES];
  if (frames != 0) {
    const std::uint64_t misses = facts.counters[LUMBRE_COUNTER_RULE_CACHE_MISSES];
    json["rule_cache_hit_rate"] =
        rounded(1 - static_cast<double>(misses) / static_cast<double>(frames));
  }
  json["checked"] = walk.counts().checked;
  json["mismatched"] = walk.counts().mismatched;
  if (walk.counts().mismatched != 0) {
    json["first_mismatch"] = walk.counts().first_mismatch;
  }
  json["pages"] = walk.pages().page_count();
  json["rows"] = walk.pages().row_count();
  json["rules"] = walk.pages().rule_count();
  json["resets"] = walk.pages().reset_count();
  json["processes_refused"] = walk.refused_count();
  return json;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f%%", share * 100);
  return text;
}

double sampled_cpu_seconds(const RecordingFacts& facts, const Pipeline& pipeline) {
  double weight = 0;
  for (const auto& [key, total] : pipeline.store().totals()) {
    weight += static_cast<double>(total.weight);
  }
  return weight * facts.ns_per_weight * 1e-9;
}

std::string truncated_text(const PipelineCounts& counts) {
  std::vector<std::pair<std::uint64_t, std::string>> causes;
  for (const auto& [cause, count] : counts.truncated) {
    causes.emplace_back(count, cause);
  }
  std::sort(causes.rbegin(), causes.rend());
  std::string text;
  for (const auto& [count, cause] : causes) {
    text += "  " + percent(static_cast<double>(count) / static_cast<double>(counts.shown)) +
            " of samples do not reach the root: " + cause + "\n";
  }
  return text;
}

}  // namespace

std::map<std::string, std::uint64_t> losses_of(const RecordingFacts& facts,
                                               const Pipeline& pipeline) {
  std::map<std::string, std::uint64_t> lost;
  const auto add = [&](const char* cause, std::uint64_t count) {
    if (count != 0) {
      lost[cause] = count;
    }
  };
  const std::uint64_t sent = facts.counters[LUMBRE_COUNTER_SENT];
  add("ring_buffer_full", facts.counters[LUMBRE_COUNTER_LOST_NO_ROOM]);
  // While recording goes on, the difference is still on its way.
  if (facts.is_complete && sent > pipeline.counts().shown) {
    add("not_decoded", sent - pipeline.counts().shown);
  }
  return lost;
}

std::vector<std::string> recording_comments(const RecordingFacts& facts, const Pipeline& pipeline) {
  std::vector<std::string> comments;
  comments.push_back(std::string("lumbre ") + kVersion + ", clock " + clock_name(facts.clock) +
                     ", " + std::to_string(facts.options.frequency_hz) + " Hz per CPU");
  for (const auto& [cause, count] : losses_of(facts, pipeline)) {
    comments.push_back("samples lost: " + std::to_string(count) + " (" + cause + ")");
  }
  for (const auto& [cause, count] : pipeline.counts().truncated) {
    comments.push_back("stacks not complete to the root: " + std::to_string(count) + " (" + cause +
                       ")");
  }
  return comments;
}

std::string summary_json(const RecordingFacts& facts, Pipeline& pipeline,
                         const BuiltProfile& built) {
  Json json;
  json["schema_version"] = 1;
  json["lumbre_version"] = kVersion;
  json["is_complete"] = facts.is_complete;
  json["duration_s"] = rounded(facts.duration_s);
  json["target"]["mode"] = mode_name(facts.options.mode);
  json["target"]["pids"] = facts.options.pids;
  json["target"]["command"] = facts.options.command;
  json["kernel"] = kernel_release();
  json["clock"] = clock_name(facts.clock);
  json["frequency_hz"] = facts.options.frequency_hz;
  json["stolen_cpu_s"] = rounded(static_cast<double>(facts.stolen_ns) * 1e-9);
  json["events"]["cpu"] = event_json(facts, pipeline);
  json["uprobes"] = Json::array();
  json["cost"] = cost_json(facts);
  json["modules_without_symbols"] = Json::array();
  for (const auto& [module, samples] : built.samples_without_symbols) {
    json["modules_without_symbols"].push_back(
        {{"path", pipeline.modules().at(module).path}, {"samples", samples}});
  }
  json["unattributed_samples"] = built.unattributed_samples;
  json["processes_seen"] = pipeline.process_count();
  for (std::uint32_t i = 0; i < LUMBRE_COUNTER_COUNT; ++i) {
    static constexpr const char* kNames[] = {
#define LUMBRE_COUNTER_NAME(id, name, text) name,
        LUMBRE_COUNTERS(LUMBRE_COUNTER_NAME)
#undef LUMBRE_COUNTER_NAME
    };
    json["kernel_counters"][kNames[i]] = facts.counters[i];
  }
  json["kernel_walk"] = kernel_walk_json(facts, pipeline);
  json["samples_without_time"] = pipeline.store().untimed();
  json["mapping_events_lost"] = pipeline.lost_mappings();
  json["notes"] = pipeline.notes();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary_text(const RecordingFacts& facts, Pipeline& pipeline,
                         const BuiltProfile& built) {
  const PipelineCounts& counts = pipeline.counts();
  char line[256];
  const double cpu_s = sampled_cpu_seconds(facts, pipeline);
  std::snprintf(line, sizeof(line),
                "%llu samples in %.1f s: %.2f s of CPU time in %zu process%s (%s, %u Hz)\n",
                static_cast<unsigned long long>(counts.shown), facts.duration_s, cpu_s,
                pipeline.process_count(), pipeline.process_count() == 1 ? "" : "es",
                clock_name(facts.clock), facts.options.frequency_hz);
  std::string text = line;
  for (const auto& [cause, count] : losses_of(facts, pipeline)) {
    text += "  lost: " + std::to_string(count) + " samples (" + cause + ")\n";
  }
  if (counts.shown != 0) {
    text += truncated_text(counts);
    text += "  " +
            percent(static_cast<double>(built.unattributed_samples) /
                    static_cast<double>(counts.shown)) +
            " of samples have no name for what ran\n";
  } else {
    text += "  the target used no CPU: it slept or waited all the time\n";
  }
  const double stolen_s = static_cast<double>(facts.stolen_ns) * 1e-9;
  if (stolen_s > kNotableStolenShare * cpu_s) {
    std::snprintf(line, sizeof(line),
                  "  note: the hypervisor took %.2f s from this machine's CPUs; what they were "
                  "running then may be shown with that much more\n",
                  stolen_s);
    text += line;
  }
  if (pipeline.store().untimed() != 0) {
    text += "  note: timeline.pftrace lacks the last " +
            std::to_string(pipeline.store().untimed()) +
            " samples (--max-size); all other files have them\n";
  }
  if (facts.children_left_out != 0) {
    text += "  note: " + std::to_string(facts.children_left_out) +
            (facts.children_left_out == 1 ? " child process was" : " child processes were") +
            " not followed (--no-children)\n";
  }
  if (const KernelWalkCounts& walk = pipeline.kernel_walk().counts(); walk.mismatched != 0) {
    text += "  note: " + std::to_string(walk.mismatched) + " of " + std::to_string(walk.checked) +
            " stacks walked twice came out differently (" + walk.first_mismatch +
            "): please report this\n";
  }
  for (const std::string& note : pipeline.notes()) {
    text += "  note: " + note + "\n";
  }
  const double bpf_s = static_cast<double>(facts.bpf_cost.run_time_ns) * 1e-9;
  std::snprintf(line, sizeof(line),
                "Lumbre's own cost: %.2f s of CPU (%.2f%% of one CPU; %.3f s of it in the kernel "
                "programs), %.0f MB of memory, %.0f MB of kernel memory\n",
                facts.own_cpu_s + bpf_s, 100 * (facts.own_cpu_s + bpf_s) / facts.duration_s, bpf_s,
                static_cast<double>(facts.own_peak_rss_bytes) / 1e6,
                static_cast<double>(facts.kernel_memory_bytes) / 1e6);
  return text + line;
}

}  // namespace lumbre
