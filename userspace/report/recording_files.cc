#include "userspace/report/recording_files.h"

#include <map>
#include <tuple>

#include "output/perfetto.h"
#include "userspace/report/event_kinds.h"
#include "userspace/report/summary.h"

namespace lumbre {
namespace {

std::string label_of(const LabelSet& set, const char* key) {
  for (const LabelValue& value : set) {
    if (value.key == key) {
      return value.text;
    }
  }
  return "";
}

BuildOptions options_for(const Recording& recording, bool shows_interpreter_frames) {
  const RecordingFacts& facts = recording.facts();
  BuildOptions options;
  options.period_ns = 1;
  options.start_wall_ns = facts.start_wall_ns;
  options.duration_ns = static_cast<std::uint64_t>(facts.duration_s * 1e9);
  options.ns_per_weight = facts.ns_per_weight;
  options.shows_interpreter_frames = shows_interpreter_frames;
  return options;
}

}  // namespace

BuiltProfile build_event_profile(Recording& recording, NameSources& sources, std::uint32_t event,
                                 bool shows_interpreter_frames) {
  Pipeline& pipeline = recording.pipeline();
  const RecordingFacts& facts = recording.facts();
  BuildOptions options = options_for(recording, shows_interpreter_frames);
  options.event = event;
  if (event == LUMBRE_EVENT_CPU) {
    options.period_ns = 1'000'000'000ULL / facts.options.frequency_hz;
  }
  options.comments = recording_comments(facts, pipeline, event);
  return build_profile(pipeline.store(), {pipeline.codes(), pipeline.jit(), sources}, options);
}

BuiltProfile build_wall_profile(Recording& recording, NameSources& sources,
                                bool shows_interpreter_frames) {
  Pipeline& pipeline = recording.pipeline();
  return build_wall_profile(pipeline.store(), {pipeline.codes(), pipeline.jit(), sources},
                            options_for(recording, shows_interpreter_frames));
}

std::string target_of(const RecordOptions& options) {
  if (options.mode == TargetMode::kWholeMachine) {
    return " of the whole machine";
  }
  if (options.mode == TargetMode::kCommand) {
    std::string text = " of";
    for (const std::string& word : options.command) {
      text += " " + word;
    }
    return text;
  }
  std::string text = options.pids.size() == 1 ? " of process" : " of processes";
  for (const std::uint32_t pid : options.pids) {
    text += " " + std::to_string(pid);
  }
  return text;
}

std::string title_of(const RecordOptions& options, std::uint32_t event) {
  return std::string(event_kind(event).title) + target_of(options);
}

bool write_timeline(Recording& recording, const BuiltProfile& built, std::ostream& out) {
  const SampleStore& store = recording.pipeline().store();
  const RecordingFacts& facts = recording.facts();
  output::PerfettoTrace trace;
  trace.profile = &built.profile;
  trace.boot_minus_monotonic_ns = facts.start_boot_ns - facts.start_monotonic_ns;
  trace.wall_minus_monotonic_ns =
      static_cast<std::int64_t>(facts.start_wall_ns - facts.start_monotonic_ns);
  std::map<StackId, std::uint32_t> stack_index;
  for (const auto& [stack, locations] : built.stacks) {
    stack_index.emplace(stack, static_cast<std::uint32_t>(trace.stacks.size()));
    trace.stacks.push_back(locations);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, LabelSetId> threads;
  for (const WeightedStack& sample : store.timed()) {
    if (sample.event != built.event) {
      continue;
    }
    trace.samples.push_back(
        {sample.time_ns, stack_index[sample.stack], sample.pid, sample.tid, sample.cpu, 1});
    threads[{sample.pid, sample.tid}] = sample.labels;
  }
  for (const auto& [ids, labels] : threads) {
    const LabelSet& set = store.labels.at(labels);
    trace.threads.push_back(
        {ids.first, ids.second, label_of(set, "process"), label_of(set, "thread")});
  }
  return output::write_perfetto(trace, out);
}

}  // namespace lumbre
