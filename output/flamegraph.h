// Flame graphs: the layout of rectangles (pure, no drawing) from a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/profile.h"

namespace lumbre::output {

struct FlamegraphOptions {
  std::uint32_t sample_type = 0;
  bool is_inverted = false;      // icicle: root at the top
  double minimum_share = 0.001;  // frames from this share of the total on are static shapes
};

// One frame of the merged stacks, in depth-first order.
struct FlameNode {
  std::uint32_t parent = kNone;
  std::uint32_t depth = 0;
  StringId name = 0;      // display name
  StringId whole_name = 0;
  StringId file = 0;      // source file, or the module where there is none
  std::int64_t line = 0;  // 0: several or unknown
  FrameKind kind = FrameKind::kUnknown;
  bool is_inlined = false;
  std::int64_t value = 0;  // with children
  std::int64_t self = 0;
  std::int64_t start = 0;  // left edge, in units of value
  std::int64_t base_value = 0;  // differential: the other profile's value, scaled to this total
};

struct Flamegraph {
  std::vector<FlameNode> nodes;  // nodes[0] is the root "all"
  std::uint32_t depth = 0;       // the deepest node's
  std::int64_t total = 0;
};

Flamegraph layout_flamegraph(const Profile& profile, const FlamegraphOptions& options);
// Widths from `profile`, base_value from `base` scaled to the same total.
Flamegraph layout_differential(const Profile& profile, const Profile& base,
                               const FlamegraphOptions& options);

}  // namespace lumbre::output
