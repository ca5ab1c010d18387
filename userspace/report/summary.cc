#include "userspace/report/summary.h"

#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "userspace/report/event_kinds.h"
#include "userspace/report/ranking.h"
#include "userspace/report/waits_summary.h"
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

Json event_json(const RecordingFacts& facts, const Pipeline& pipeline, std::uint32_t event_id) {
  const PipelineCounts& counts = pipeline.counts(event_id);
  Json event;
  const auto lost = losses_of(facts, pipeline, event_id);
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
  const auto& kernel = facts.event_counters[event_id];
  if (const std::uint64_t taken = kernel[LUMBRE_EVENT_COUNTER_SENT]; taken != 0) {
    event["ns_per_sample"] = kernel[LUMBRE_EVENT_COUNTER_CAPTURE_NS] / taken;
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
  for (const auto& [key, totals] : pipeline.store().totals(LUMBRE_EVENT_CPU)) {
    weight += static_cast<double>(totals[1]);
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

std::string losses_text(const RecordingFacts& facts, const Pipeline& pipeline,
                        std::uint32_t event) {
  std::string text;
  for (const auto& [cause, count] : losses_of(facts, pipeline, event)) {
    text += "  lost: " + std::to_string(count) + " samples (" + cause + ")\n";
  }
  return text;
}

// The lines about any other event.
std::string event_text(const RecordingFacts& facts, const Pipeline& pipeline,
                       const BuiltProfile& built) {
  const EventKind& kind = event_kind(built.event);
  std::string text(kind.name);
  text += ":";
  for (std::size_t i = 0; i < kind.values.size(); ++i) {
    std::int64_t sum = 0;
    for (const output::Sample& sample : built.profile.samples) {
      sum += sample.values[i];
    }
    text += (i == 0 ? " " : ", ") + std::string(kind.values[i].type) + " " +
            human_value(sum, std::string(kind.values[i].unit));
  }
  text += "; " + std::to_string(pipeline.counts(built.event).shown) + " stacks\n";
  return text + losses_text(facts, pipeline, built.event) +
         truncated_text(pipeline.counts(built.event));
}

}  // namespace

std::map<std::string, std::uint64_t> losses_of(const RecordingFacts& facts,
                                               const Pipeline& pipeline, std::uint32_t event) {
  std::map<std::string, std::uint64_t> lost;
  const auto add = [&](const char* cause, std::uint64_t count) {
    if (count != 0) {
      lost[cause] = count;
    }
  };
  const auto& kernel = facts.event_counters[event];
  const std::uint64_t sent = kernel[LUMBRE_EVENT_COUNTER_SENT];
  const std::uint64_t shown = pipeline.counts(event).shown;
  add("ring_buffer_full", kernel[LUMBRE_EVENT_COUNTER_NO_ROOM]);
  // While recording goes on, the difference is still on its way.
  if (facts.is_complete && sent > shown) {
    add("not_decoded", sent - shown);
  }
  return lost;
}

std::vector<std::string> recording_comments(const RecordingFacts& facts, const Pipeline& pipeline,
                                            std::uint32_t event) {
  std::vector<std::string> comments;
  comments.push_back(std::string("lumbre ") + kVersion + ", clock " + clock_name(facts.clock) +
                     ", " + std::to_string(facts.options.frequency_hz) + " Hz per CPU");
  for (const auto& [cause, count] : losses_of(facts, pipeline, event)) {
    comments.push_back("samples lost: " + std::to_string(count) + " (" + cause + ")");
  }
  for (const auto& [cause, count] : pipeline.counts(event).truncated) {
    comments.push_back("stacks not complete to the root: " + std::to_string(count) + " (" + cause +
                       ")");
  }
  return comments;
}

std::string summary_json(const RecordingFacts& facts, Pipeline& pipeline,
                         const std::vector<BuiltProfile>& built) {
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
  for (const std::uint32_t event : facts.options.events) {
    json["events"][std::string(event_kind(event).name)] = event_json(facts, pipeline, event);
  }
  if (facts.offcpu != nullptr) {
    json["waits"] = waits_json(*facts.offcpu);
  }
  json["uprobes"] = Json::array();
  json["cost"] = cost_json(facts);
  json["modules_without_symbols"] = Json::array();
  std::map<ModuleId, std::uint64_t> without_symbols;
  std::uint64_t unattributed = 0;
  for (const BuiltProfile& profile : built) {
    for (const auto& [module, samples] : profile.samples_without_symbols) {
      without_symbols[module] += samples;
    }
    unattributed += profile.unattributed_samples;
  }
  for (const auto& [module, samples] : without_symbols) {
    json["modules_without_symbols"].push_back(
        {{"path", pipeline.modules().at(module).path}, {"samples", samples}});
  }
  json["unattributed_samples"] = unattributed;
  json["processes_seen"] = pipeline.process_count();
  for (std::uint32_t i = 0; i < LUMBRE_COUNTER_COUNT; ++i) {
    static constexpr const char* kNames[] = {
#define LUMBRE_COUNTER_NAME(id, name, text) name,
        LUMBRE_COUNTERS(LUMBRE_COUNTER_NAME)
#undef LUMBRE_COUNTER_NAME
    };
    json["kernel_counters"][kNames[i]] = facts.counters[i];
  }
  json["kernel_programs"] = facts.classic_reason.empty() ? "usual" : "classic";
  json["kernel_walk"] = kernel_walk_json(facts, pipeline);
  json["samples_without_time"] = pipeline.store().untimed();
  json["mapping_events_lost"] = pipeline.lost_mappings();
  json["notes"] = pipeline.notes();
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The lines about `cpu`.
std::string cpu_text(const RecordingFacts& facts, const Pipeline& pipeline,
                     const BuiltProfile& built) {
  const PipelineCounts& counts = pipeline.counts(LUMBRE_EVENT_CPU);
  char line[256];
  std::snprintf(line, sizeof(line),
                "%llu samples in %.1f s: %.2f s of CPU time in %zu process%s (%s, %u Hz)\n",
                static_cast<unsigned long long>(counts.shown), facts.duration_s,
                sampled_cpu_seconds(facts, pipeline), pipeline.process_count(),
                pipeline.process_count() == 1 ? "" : "es", clock_name(facts.clock),
                facts.options.frequency_hz);
  std::string text = line;
  text += losses_text(facts, pipeline, LUMBRE_EVENT_CPU);
  if (counts.shown == 0) {
    return text + "  the target used no CPU: it slept or waited all the time" +
           (facts.options.has_event(LUMBRE_EVENT_OFFCPU) ? "\n" : " (-e offcpu shows on what)\n");
  }
  return text + truncated_text(counts) + "  " +
         percent(static_cast<double>(built.unattributed_samples) /
                 static_cast<double>(counts.shown)) +
         " of samples have no name for what ran\n";
}

std::string summary_text(const RecordingFacts& facts, Pipeline& pipeline,
                         const std::vector<BuiltProfile>& built) {
  char line[256];
  std::string text;
  for (const BuiltProfile& profile : built) {
    text += profile.event == LUMBRE_EVENT_CPU ? cpu_text(facts, pipeline, profile)
                                              : event_text(facts, pipeline, profile);
    if (profile.event == LUMBRE_EVENT_OFFCPU && facts.offcpu != nullptr) {
      text += waits_text(*facts.offcpu);
    }
  }
  const double cpu_s = sampled_cpu_seconds(facts, pipeline);
  const double stolen_s = static_cast<double>(facts.stolen_ns) * 1e-9;
  if (cpu_s > 0 && stolen_s > kNotableStolenShare * cpu_s) {
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
  if (!facts.classic_reason.empty()) {
    text += "  note: recorded by the kernel programs for older kernels, as " +
            facts.classic_reason + "; a sample costs more, nothing is left out\n";
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
