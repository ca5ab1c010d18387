// The static part of a flame graph's SVG: header, legend, frames and footer at a fixed width.
// Classes stand for colours; assets/flamegraph.css gives them their values. Pure; linear.
#pragma once

#include <cstdint>
#include <string>

#include "output/flamegraph.h"
#include "output/svg.h"

namespace lumbre::output {

inline constexpr int kPictureWidth = 1200;  // pixels, of the static picture
inline constexpr int kSideMargin = 10;
inline constexpr int kRowHeight = 18;
inline constexpr int kHeaderHeight = 84;
inline constexpr int kFooterHeight = 30;

// What the cut leaves out of the static picture.
struct Cut {
  std::uint64_t frames = 0;
  std::uint64_t all_frames = 0;
  std::int64_t self = 0;  // the value of stacks that end in one of them
};
Cut count_cut(const Flamegraph& graph, double minimum_share);
bool is_static(const FlameNode& node, std::int64_t total, double minimum_share);

int picture_height(const Flamegraph& graph, double minimum_share);
std::string footer_text(const Flamegraph& graph, const SvgOptions& options);
std::string total_text(const Flamegraph& graph, const SvgOptions& options);

// 0 to 4, by the name: neighbours of one kind differ a little.
unsigned shade_of(std::string_view name);
// "p3": Python's colour in its third shade; "d7" in differential graphs.
std::string colour_class(const Flamegraph& graph, const FlameNode& node, bool is_differential);

void append_header(const Flamegraph& graph, const SvgOptions& options, std::string& out);
void append_frames(const Flamegraph& graph, const SvgOptions& options, std::string& out);
void append_footer(const Flamegraph& graph, const SvgOptions& options, std::string& out);

}  // namespace lumbre::output
