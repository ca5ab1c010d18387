// From the samples of one event to the finished Profile.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "output/profile.h"
#include "userspace/report/frame_namer.h"

namespace lumbre {

struct BuildOptions {
  std::uint32_t event = 0;          // enum lumbre_event
  std::uint64_t period_ns = 0;      // between two samples of one CPU
  std::uint64_t start_wall_ns = 0;  // since the Unix epoch
  std::uint64_t duration_ns = 0;
  double ns_per_weight = 1;  // converts the weights of `cpu`
  bool shows_interpreter_frames = false;
  std::vector<std::string> comments;
};

struct BuiltProfile {
  output::Profile profile;
  // Per distinct stack, for the timeline: locations leaf first.
  std::map<StackId, std::vector<output::LocationId>> stacks;
  std::map<ModuleId, std::uint64_t> samples_without_symbols;  // samples with an unnamed frame
  std::uint64_t unattributed_samples = 0;                     // whose leaf has no name
  std::uint32_t event = 0;
};

BuiltProfile build_profile(const SampleStore& store, const FrameSources& sources,
                           const BuildOptions& options);

// `cpu` and `offcpu` together: where the threads' time went, whether they ran or waited. Waits end in
// a frame that names the state.
BuiltProfile build_wall_profile(const SampleStore& store, const FrameSources& sources,
                                const BuildOptions& options);

// The stack of a wait from the function that waits on: without the scheduler and what it called.
std::span<const FrameId> without_scheduler(std::span<const FrameId> leaf_first, FrameNamer& namer);

// The frames of a stack that are shown: without the interpreter's plumbing between Python frames.
std::vector<FrameId> visible_frames(const std::vector<FrameId>& leaf_first,
                                    const SampleStore& store, FrameNamer& namer);

}  // namespace lumbre
