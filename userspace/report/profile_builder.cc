#include "userspace/report/profile_builder.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "output/frame_kinds.h"
#include "userspace/report/event_kinds.h"

namespace lumbre {
namespace {

std::vector<output::Label> make_labels(const LabelSet& set, output::Profile& profile) {
  std::vector<output::Label> labels;
  for (const LabelValue& value : set) {
    labels.push_back({profile.intern(value.key), profile.intern(value.text), value.number, 0});
  }
  return labels;
}

void describe(output::Profile& profile, const BuildOptions& options) {
  for (const ValueKind& value : event_kind(options.event).values) {
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

BuiltProfile build_profile(const SampleStore& store, const FrameSources& sources,
                           const BuildOptions& options) {
  BuiltProfile built;
  built.event = options.event;
  describe(built.profile, options);
  FrameNamer namer(store, sources, built.profile);
  // Stacks that differ in hidden frames only become one sample.
  std::map<std::pair<std::vector<output::LocationId>, LabelSetId>, std::size_t> samples;
  for (const auto& [key, totals] : store.totals(options.event)) {
    const auto [stack, label_set] = key;
    std::vector<FrameId> whole = store.stacks.leaf_first(stack);
    if (options.event == LUMBRE_EVENT_OFFCPU) {
      const std::size_t hidden = whole.size() - without_scheduler(whole, namer).size();
      whole.erase(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(hidden));
    }
    const std::vector<FrameId> shown =
        options.shows_interpreter_frames ? whole : visible_frames(whole, store, namer);
    std::vector<output::LocationId>& locations = built.stacks[stack];
    std::set<ModuleId> unnamed;
    locations.clear();
    for (const FrameId frame : shown) {
      locations.push_back(namer.location(frame));
      if (const auto module = namer.unnamed_module(frame)) {
        unnamed.insert(*module);
      }
    }
    for (const ModuleId module : unnamed) {
      built.samples_without_symbols[module] += totals[0];
    }
    if (!locations.empty()) {
      const output::Location& leaf = built.profile.locations[locations.front()];
      const bool is_named = leaf.kind != output::FrameKind::kUnknown &&
                            leaf.kind != output::FrameKind::kTruncated &&
                            !output::is_unnamed_jit(built.profile, leaf);
      built.unattributed_samples += is_named ? 0 : totals[0];
    }
    const std::vector<std::int64_t> values = make_values(totals, options);
    const auto [at, is_new] =
        samples.try_emplace({locations, label_set}, built.profile.samples.size());
    if (is_new) {
      built.profile.samples.push_back(
          {locations, values, make_labels(store.labels.at(label_set), built.profile)});
    } else {
      std::vector<std::int64_t>& sums = built.profile.samples[at->second].values;
      std::transform(sums.begin(), sums.end(), values.begin(), sums.begin(), std::plus<>());
    }
  }
  sources.modules.release_pages();
  return built;
}

}  // namespace lumbre
