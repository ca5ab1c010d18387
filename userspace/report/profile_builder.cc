#include "userspace/report/profile_builder.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "output/frame_kinds.h"
#include "userspace/collectors/offcpu.h"
#include "userspace/report/event_kinds.h"

namespace lumbre {
namespace {

std::vector<output::Label> make_labels(const LabelSet& set, output::Profile& profile) {
  std::vector<output::Label> labels;
  for (const LabelValue& value : set) {
    if (value.key == kWakerStackLabel) {
      continue;
    }
    labels.push_back({profile.intern(value.key), profile.intern(value.text), value.number, 0});
  }
  return labels;
}

void describe(output::Profile& profile, const std::vector<ValueKind>& values,
              const BuildOptions& options) {
  for (const ValueKind& value : values) {
    profile.sample_types.push_back({profile.intern(value.type), profile.intern(value.unit)});
  }
  profile.default_sample_type = profile.sample_types.back().type;
  profile.period_type = profile.sample_types.back();
  profile.period = static_cast<std::int64_t>(options.period_ns);
  profile.time_nanos = static_cast<std::int64_t>(options.start_wall_ns);
  profile.duration_nanos = static_cast<std::int64_t>(options.duration_ns);
  for (const std::string& comment : options.comments) {
    profile.comments.push_back(profile.intern(comment));
  }
}

std::vector<std::int64_t> make_values(const EventValues& totals, const BuildOptions& options) {
  std::vector<std::int64_t> values(totals.begin(), totals.end());
  values.resize(event_kind(options.event).values.size());
  if (options.event == LUMBRE_EVENT_CPU) {
    values[1] = static_cast<std::int64_t>(static_cast<double>(totals[1]) * options.ns_per_weight);
  }
  return values;
}

}  // namespace

std::vector<FrameId> visible_frames(const std::vector<FrameId>& leaf_first,
                                    const SampleStore& store, FrameNamer& namer) {
  std::vector<FrameId> shown;
  std::size_t run_start = 0;  // in `shown`: the native frames since the last Python frame
  bool has_python_leafward = false;
  const bool has_python = std::any_of(leaf_first.begin(), leaf_first.end(), [&](FrameId id) {
    return store.frames.at(id).kind == FrameKind::kPython;
  });
  for (const FrameId id : leaf_first) {
    const FrameKind kind = store.frames.at(id).kind;
    if (kind == FrameKind::kEvalLoop || (has_python && namer.is_python_trampoline(id))) {
      continue;
    }
    if (kind == FrameKind::kPython) {
      if (has_python_leafward) {
        auto keep = shown.begin() + static_cast<std::ptrdiff_t>(run_start);
        for (auto at = keep; at != shown.end(); ++at) {
          if (!namer.is_plumbing(*at)) {
            *keep++ = *at;
          }
        }
        shown.erase(keep, shown.end());
      }
      has_python_leafward = true;
      shown.push_back(id);
      run_start = shown.size();
      continue;
    }
    shown.push_back(id);
  }
  return shown;
}

std::span<const FrameId> without_scheduler(std::span<const FrameId> leaf_first,
                                           FrameNamer& namer) {
  constexpr std::size_t kMostTracingFrames = 8;  // our own program and how it was called
  const std::size_t limit = std::min(leaf_first.size(), kMostTracingFrames);
  std::size_t first = 0;
  while (first < limit && !namer.is_scheduler(leaf_first[first])) {
    ++first;
  }
  if (first == limit) {
    return leaf_first;
  }
  while (first < leaf_first.size() && namer.is_scheduler(leaf_first[first])) {
    ++first;
  }
  return leaf_first.subspan(first);
}

namespace {

// Puts the stacks of one event after the other into a profile.
class StackAdder {
 public:
  StackAdder(const SampleStore& store, const FrameSources& sources, const BuildOptions& options,
             BuiltProfile& built)
      : store_(store), options_(options), built_(built), namer_(store, sources, built.profile) {}

  // `leaf`: a location to put above the stack, or kNone.
  void add(const SampleStore::TotalKey& key, std::uint64_t count,
           const std::vector<std::int64_t>& values, bool is_wait, output::LocationId leaf) {
    std::vector<output::LocationId> locations = locate(key.first, count, is_wait);
    built_.stacks[key.first] = locations;
    if (leaf != output::kNone) {
      locations.insert(locations.begin(), leaf);
    } else {
      put_waker_on_top(store_.labels.at(key.second), locations);
    }
    const auto [at, is_new] =
        samples_.try_emplace({locations, key.second}, built_.profile.samples.size());
    if (is_new) {
      built_.profile.samples.push_back(
          {locations, values, make_labels(store_.labels.at(key.second), built_.profile)});
      return;
    }
    std::vector<std::int64_t>& sums = built_.profile.samples[at->second].values;
    std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
  }

  // A frame that stands for a state.
  output::LocationId state_location(const std::string& name, output::FrameKind kind) {
    output::Profile& profile = built_.profile;
    const output::StringId text = profile.intern(name);
    output::Location location;
    location.kind = kind;
    location.lines.push_back({profile.add_function({text, text, 0, 0}), 0, 0});
    return profile.add_location(location);
  }

 private:
  // The waker's stack stands on its head on the one that it ended, so that the two meet.
  void put_waker_on_top(const LabelSet& labels, std::vector<output::LocationId>& locations) {
    std::string thread;
    for (const LabelValue& label : labels) {
      if (label.key == kWakerLabel) {
        thread = label.text;
      } else if (label.key == kWakerStackLabel) {
        std::vector<output::LocationId> waker = locate(static_cast<StackId>(label.number), 0, false);
        const std::string title = cut_to_waker(waker) ? "[woken by an interrupt]"
                                                      : "[woken by " + thread + "]";
        waker.insert(waker.begin(), state_location(title, output::FrameKind::kUnknown));
        locations.insert(locations.begin(), waker.rbegin(), waker.rend());
      }
    }
  }

  // Leaves our own program out, and what an interrupt just happened to interrupt (true).
  bool cut_to_waker(std::vector<output::LocationId>& leaf_first) const {
    const auto name = [&](output::LocationId id) -> std::string_view {
      const output::Location& location = built_.profile.locations[id];
      return location.kind != output::FrameKind::kKernel || location.lines.empty()
                 ? std::string_view()
                 : built_.profile.text(
                       built_.profile.functions[location.lines.front().function].name);
    };
    const auto first = std::find_if(leaf_first.begin(), leaf_first.end(), [&](auto id) {
      return !name(id).starts_with("bpf_");
    });
    leaf_first.erase(leaf_first.begin(), first);
    const auto interrupt = std::find_if(leaf_first.begin(), leaf_first.end(), [&](auto id) {
      const std::string_view text = name(id);
      return text.starts_with("asm_sysvec_") || text == "asm_common_interrupt" ||
             text == "handle_softirqs" || text == "__do_softirq";
    });
    if (interrupt == leaf_first.end()) {
      return false;
    }
    leaf_first.erase(interrupt + 1, leaf_first.end());
    return true;
  }

  std::vector<output::LocationId> locate(StackId stack, std::uint64_t count, bool is_wait) {
    std::vector<FrameId> frames = store_.stacks.leaf_first(stack);
    if (is_wait) {
      const std::size_t hidden = frames.size() - without_scheduler(frames, namer_).size();
      frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(hidden));
    }
    if (!options_.shows_interpreter_frames) {
      frames = visible_frames(frames, store_, namer_);
    }
    std::vector<output::LocationId> locations;
    std::set<ModuleId> unnamed;
    for (const FrameId frame : frames) {
      locations.push_back(namer_.location(frame));
      if (const auto module = namer_.unnamed_module(frame)) {
        unnamed.insert(*module);
      }
    }
    for (const ModuleId module : unnamed) {
      built_.samples_without_symbols[module] += count;
    }
    if (!locations.empty() && !is_named(built_.profile.locations[locations.front()])) {
      built_.unattributed_samples += count;
    }
    return locations;
  }

  bool is_named(const output::Location& leaf) const {
    return leaf.kind != output::FrameKind::kUnknown &&
           leaf.kind != output::FrameKind::kTruncated &&
           !output::is_unnamed_jit(built_.profile, leaf);
  }

  const SampleStore& store_;
  const BuildOptions& options_;
  BuiltProfile& built_;
  FrameNamer namer_;
  // Stacks that differ in hidden frames only become one sample.
  std::map<std::pair<std::vector<output::LocationId>, LabelSetId>, std::size_t> samples_;
};

std::string label_text(const LabelSet& set, std::string_view key) {
  for (const LabelValue& value : set) {
    if (value.key == key) {
      return value.text;
    }
  }
  return "";
}

}  // namespace

BuiltProfile build_profile(const SampleStore& store, const FrameSources& sources,
                           const BuildOptions& options) {
  BuiltProfile built;
  built.event = options.event;
  describe(built.profile, event_kind(options.event).values, options);
  StackAdder adder(store, sources, options, built);
  for (const auto& [key, totals] : store.totals(options.event)) {
    adder.add(key, totals[0], make_values(totals, options), options.event == LUMBRE_EVENT_OFFCPU,
              output::kNone);
  }
  sources.modules.release_pages();
  return built;
}

BuiltProfile build_wall_profile(const SampleStore& store, const FrameSources& sources,
                                const BuildOptions& options) {
  BuiltProfile built;
  const std::vector<ValueKind> values = {{"wall", "nanoseconds"}};
  describe(built.profile, values, options);
  StackAdder adder(store, sources, options, built);
  for (const auto& [key, totals] : store.totals(LUMBRE_EVENT_CPU)) {
    const double ns = static_cast<double>(totals[1]) * options.ns_per_weight;
    adder.add(key, totals[0], {static_cast<std::int64_t>(ns)}, false, output::kNone);
  }
  for (const auto& [key, totals] : store.totals(LUMBRE_EVENT_OFFCPU)) {
    const std::string wait = label_text(store.labels.at(key.second), "wait");
    const output::LocationId leaf =
        wait == "runnable"
            ? adder.state_location(std::string(output::kRunnableName), output::FrameKind::kRunnable)
            : adder.state_location(std::string(output::kBlockedPrefix) + wait + "]",
                                   output::FrameKind::kBlocked);
    adder.add(key, totals[0], {static_cast<std::int64_t>(totals[1])}, true, leaf);
  }
  sources.modules.release_pages();
  return built;
}

}  // namespace lumbre
