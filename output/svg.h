// Draws a flame graph as one self-contained SVG (or an HTML page around it).
//
// Frames from minimum_share of the total on are static shapes, 1200 pixels wide: they print, embed
// and need no script. All frames go along as compact data (svg_data.h); the script in assets/
// lays both out to the window's width and draws the smaller ones when one zooms in. No external
// reference of any kind. Streams; memory is linear in the number of frames. One thread.
#pragma once

#include <ostream>
#include <string>

#include "output/flamegraph.h"

namespace lumbre::output {

struct SvgOptions {
  std::string title;
  std::string subtitle;    // what was recorded, in one line: target, rate, losses
  std::string unit;        // of the values: "nanoseconds", "count", "bytes"
  std::string metric;      // what the values are, for people: "CPU time"; may be ""
  std::string empty_hint;  // shown when there are no samples: why that can be, what to do
  bool is_inverted = false;
  bool is_differential = false;
  bool with_script = true;  // false: the static picture alone
  double minimum_share = 0.001;
};

// Both return false when the stream failed. `profile` is only read for its duration.
bool write_svg(const Flamegraph& graph, const Profile& profile, const SvgOptions& options,
               std::ostream& out);
bool write_html(const Flamegraph& graph, const Profile& profile, const SvgOptions& options,
                std::ostream& out);

}  // namespace lumbre::output
