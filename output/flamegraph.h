// Flame graphs: the merged call tree of a profile and where its rectangles lie. Pure: no drawing,
// no I/O; the drawing is svg.h's.
//
// Stacks are merged by display name and kind, Python frames by file too (two functions of one name
// in different files stay apart). Siblings are in alphabetical order, so that two graphs of one
// program can be compared by eye. Strings live in the graph itself: a differential graph has two
// profiles, and frames without a function get a name here ("module+0xoffset").
// One thread. Linear in the number of sampled frames; any stack depth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/profile.h"

namespace lumbre::output {

struct FlamegraphOptions {
  std::uint32_t sample_type = 0;
  bool is_inverted = false;      // icicle: root at the top (drawing alone; the tree is the same)
  double minimum_share = 0.001;  // frames from this share of the total on are static shapes
};

// One frame of the merged stacks, in depth-first order.
struct FlameNode {
  std::uint32_t parent = kNone;
  std::uint32_t depth = 0;
  StringId name = 0;              // display name; these ids are indices into Flamegraph::strings
  StringId whole_name = 0;        // 0: nothing to add to the display name
  StringId file = 0;              // source file; 0: unknown
  StringId module = 0;            // of frames that are not Python; 0: unknown
  std::int64_t line = 0;          // the commonest line, see place_value; 0: unknown
  std::int64_t place_value = 0;   // the part of `value` that was at this (whole_name, file, line)
  std::uint32_t place_count = 1;  // how many different ones were merged
  FrameKind kind = FrameKind::kUnknown;
  bool is_inlined = false;
  std::int64_t value = 0;  // with children
  std::int64_t self = 0;
  std::int64_t start = 0;       // left edge, in units of value
  std::int64_t base_value = 0;  // differential: the other profile's value, scaled to this total
};

struct Flamegraph {
  std::vector<FlameNode> nodes;  // nodes[0] is the root "all"; never empty
  std::vector<std::string> strings;
  std::uint32_t depth = 0;  // the deepest node's
  std::int64_t total = 0;
  std::int64_t base_total = 0;  // differential: of the other profile, not scaled
  std::int64_t base_gone = 0;   // of base_total: what ended in frames that are not in this graph

  const std::string& text(StringId id) const { return strings[id]; }
};

Flamegraph layout_flamegraph(const Profile& profile, const FlamegraphOptions& options);
// Widths from `profile`, base_value from `base` scaled to the same total.
Flamegraph layout_differential(const Profile& profile, const Profile& base,
                               const FlamegraphOptions& options);

}  // namespace lumbre::output
