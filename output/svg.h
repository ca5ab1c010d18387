// Draws a flame graph as one self-contained SVG (or an HTML page around it).
#pragma once

#include <ostream>
#include <string>

#include "output/flamegraph.h"

namespace lumbre::output {

struct SvgOptions {
  std::string title;
  std::string subtitle;  // what was recorded, in one line: target, rate, losses
  std::string unit;      // of the values: "nanoseconds", "count", "bytes"
  bool is_inverted = false;
  bool is_differential = false;
  double minimum_share = 0.001;
};

bool write_svg(const Flamegraph& graph, const Profile& profile, const SvgOptions& options,
               std::ostream& out);
bool write_html(const Flamegraph& graph, const Profile& profile, const SvgOptions& options,
                std::ostream& out);

}  // namespace lumbre::output
