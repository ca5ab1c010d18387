#include "output/svg_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "output/svg_text.h"

namespace lumbre::output {
namespace {

constexpr int kGraphWidth = kPictureWidth - 2 * kSideMargin;
constexpr double kLabelMargin = 4;     // left and right of a label
constexpr double kSmallestLabel = 24;  // narrower frames have none

struct KindStyle {
  char letter;
  std::string_view name;
};
// By FrameKind.
constexpr std::array<KindStyle, 8> kKinds = {{{'p', "Python"},
                                              {'n', "native"},
                                              {'k', "kernel"},
                                              {'j', "JIT"},
                                              {'u', "unknown"},
                                              {'t', "truncated"},
                                              {'w', "blocked"},
                                              {'q', "runnable"}}};
constexpr std::size_t kFirstState = 6;  // in the legend only where there are such frames

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.2f", value);
  std::string out = text.data();
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

void append_text(std::string& out, double x, int y, std::string_view attributes,
                 std::string_view text) {
  out += "<text x=\"" + number(x) + "\" y=\"" + std::to_string(y) + "\"";
  if (!attributes.empty()) out += " " + std::string(attributes);
  out += ">" + escape_markup(text) + "</text>\n";
}

std::string_view last_of_path(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "trainer.py:142", or the module, or "".
std::string short_place(const Flamegraph& graph, const FlameNode& node) {
  if (node.file == 0) return std::string(last_of_path(graph.text(node.module)));
  std::string place(last_of_path(graph.text(node.file)));
  return node.line == 0 ? place : place + ":" + std::to_string(node.line);
}

std::string place_of(const Flamegraph& graph, const FlameNode& node) {
  if (node.file == 0) return graph.text(node.module);
  std::string place = graph.text(node.file);
  if (node.line != 0) place += ":" + std::to_string(node.line);
  if (node.place_count > 1) {
    place += " and " + human_count(node.place_count - 1) +
             (node.place_count == 2 ? " other place" : " other places");
  }
  return place;
}

std::string hover_text(const Flamegraph& graph, const FlameNode& node, const SvgOptions& options) {
  std::string text = clean_text(graph.text(node.name));
  const std::string place = clean_text(place_of(graph, node));
  if (!place.empty()) text += "\n" + place;
  text +=
      "\n" + human_value(node.value, options.unit) + ", " + human_share(node.value, graph.total);
  if (options.is_differential) {
    text += " (base: " + human_share(node.base_value, graph.total) + ")";
  }
  if (node.parent != kNone && node.parent != 0) {
    text += ", " + human_share(node.value, graph.nodes[node.parent].value) + " of its caller";
  }
  if (node.self != 0) text += ", self " + human_share(node.self, graph.total);
  return text;
}

// The label of a frame: its name and, for Python and where there is room, its place.
void append_label(const Flamegraph& graph, const FlameNode& node, double width, std::string& out) {
  const std::string name = clean_text(graph.text(node.name));
  const std::string label = fit_label(name, width - 2 * kLabelMargin);
  if (label.empty()) return;
  out += escape_markup(label);
  if (label != name || node.kind != FrameKind::kPython || node.file == 0) return;
  const std::string place = clean_text(short_place(graph, node));
  if (label_width(name) + label_width(place) + 4 * kLabelMargin > width) return;
  out += "<tspan class=\"w\" dx=\"8\">" + escape_markup(place) + "</tspan>";
}

unsigned deepest_static(const Flamegraph& graph, double minimum_share) {
  unsigned depth = 0;
  for (const FlameNode& node : graph.nodes) {
    if (is_static(node, graph.total, minimum_share)) depth = std::max(depth, node.depth);
  }
  return depth;
}

// The legend says, too, how much ends in frames of each kind.
std::array<std::int64_t, kKinds.size()> self_by_kind(const Flamegraph& graph) {
  std::array<std::int64_t, kKinds.size()> self{};
  for (const FlameNode& node : graph.nodes) {
    if (node.parent != kNone) self[static_cast<std::size_t>(node.kind)] += node.self;
  }
  return self;
}

void append_legend(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  double x = kSideMargin;
  const auto add = [&](const std::string& colour, const std::string& name) {
    out += "<rect class=\"s " + colour + "\" x=\"" + number(x) +
           "\" y=\"60\" width=\"12\" height=\"12\" rx=\"2\"/>";
    append_text(out, x + 17, 70, "class=\"m\"", name);
    x += 17 + std::ceil(label_width(name)) + 16;
  };
  if (!options.is_differential) {
    const auto self = self_by_kind(graph);
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      if (i >= kFirstState && self[i] == 0) continue;
      std::string name(kKinds[i].name);
      if (self[i] > 0) name += " " + human_share(self[i], graph.total);
      add(std::string(1, kKinds[i].letter) + "2", name);
    }
    return;
  }
  add("d0", "much less");
  add("d3", "less");
  add("d5", "same share of the total");
  add("d7", "more");
  add("d10", "much more or new");
}

}  // namespace

bool is_static(const FlameNode& node, std::int64_t total, double minimum_share) {
  return static_cast<double>(node.value) >= minimum_share * static_cast<double>(total);
}

Cut count_cut(const Flamegraph& graph, double minimum_share) {
  Cut cut;
  cut.all_frames = graph.nodes.size() - 1;  // "all" is not a frame
  for (const FlameNode& node : graph.nodes) {
    if (is_static(node, graph.total, minimum_share)) continue;
    ++cut.frames;
    cut.self += node.self;
  }
  return cut;
}

int picture_height(const Flamegraph& graph, double minimum_share) {
  const auto rows = static_cast<int>(std::min(deepest_static(graph, minimum_share), 100'000U)) + 1;
  return kHeaderHeight + rows * kRowHeight + kFooterHeight;
}

std::string total_text(const Flamegraph& graph, const SvgOptions& options) {
  std::string text = human_value(graph.total, options.unit);
  if (!options.metric.empty()) text += " " + clean_text(options.metric);
  if (!options.is_differential) return text;
  return text + " (base: " + human_value(graph.base_total, options.unit) + ")";
}

std::string footer_text(const Flamegraph& graph, const SvgOptions& options) {
  if (graph.total == 0) return "";
  const Cut cut = count_cut(graph, options.minimum_share);
  std::string text;
  if (cut.frames == 0) {
    text = "All " + human_count(cut.all_frames) + " frames are drawn.";
  } else {
    text = "Frames under " + number(options.minimum_share * 100) + "% of the total (" +
           human_count(cut.frames) + " of " + human_count(cut.all_frames) + "; " +
           human_share(cut.self, graph.total) + " of the samples end in them) are " +
           (options.with_script ? "drawn when you zoom in." : "not drawn.");
  }
  if (options.is_differential && graph.base_gone > 0) {
    text += " " + human_share(graph.base_gone, graph.base_total) +
            " of the base ended in frames that are gone.";
  }
  return text;
}

unsigned shade_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash ^ hash >> 16) % 5;
}

std::string colour_class(const Flamegraph& graph, const FlameNode& node, bool is_differential) {
  if (!is_differential) {
    if (node.parent == kNone) return "r";
    return kKinds[static_cast<std::size_t>(node.kind)].letter +
           std::to_string(shade_of(graph.text(node.name)));
  }
  const auto total = static_cast<double>(std::max<std::int64_t>(graph.total, 1));
  const double now = static_cast<double>(node.value) / total;
  const double base = static_cast<double>(node.base_value) / total;
  // Relative change, fainter below 0.2 points of the total: there it is chance.
  const double change = (now - base) / std::max({now, base, 1e-12});
  const double weight = std::min(1.0, std::fabs(now - base) / 0.002);
  return "d" + std::to_string(5 + std::lround(5 * change * weight));
}

void append_header(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  out += "<g class=\"static\">\n";
  const std::string total = graph.total == 0 ? "" : total_text(graph, options);
  const double room = kGraphWidth - label_width(total) * 1.2 - 20;
  append_text(out, kSideMargin, 26, "class=\"h\"",
              fit_label(clean_text(options.title), room / 1.4));
  append_text(out, kPictureWidth - kSideMargin, 26, "class=\"v\" text-anchor=\"end\"", total);
  append_text(out, kSideMargin, 46, "class=\"m\"",
              fit_label(clean_text(options.subtitle), kGraphWidth));
  append_legend(graph, options, out);
  out += "</g>\n";
}

void append_frames(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  out += "<g class=\"frames\" transform=\"translate(" + std::to_string(kSideMargin) + " " +
         std::to_string(kHeaderHeight) + ")\">\n";
  const double scale = kGraphWidth / static_cast<double>(std::max<std::int64_t>(graph.total, 1));
  const unsigned deepest = deepest_static(graph, options.minimum_share);
  for (std::size_t i = 0; i < graph.nodes.size() && graph.total > 0; ++i) {
    const FlameNode& node = graph.nodes[i];
    if (!is_static(node, graph.total, options.minimum_share)) continue;
    const double x = static_cast<double>(node.start) * scale;
    const double width = static_cast<double>(node.value) * scale;
    const unsigned row = options.is_inverted ? node.depth : deepest - node.depth;
    const std::uint64_t y = std::uint64_t{row} * kRowHeight;
    out += "<g data-i=\"" + std::to_string(i) + "\"><title>" +
           escape_markup(hover_text(graph, node, options)) + "</title><rect class=\"" +
           colour_class(graph, node, options.is_differential) + "\" x=\"" + number(x) + "\" y=\"" +
           std::to_string(y) + "\" width=\"" +
           number(width > 3 ? width - 0.6 : std::max(width, 0.01)) + "\" height=\"" +
           std::to_string(kRowHeight - 1) + "\"/>";
    if (width >= kSmallestLabel) {
      out += "<text x=\"" + number(x + kLabelMargin) + "\" y=\"" + std::to_string(y + 13) + "\">";
      append_label(graph, node, width, out);
      out += "</text>";
    }
    out += "</g>\n";
  }
  out += "</g>\n";
}

void append_footer(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  const int bottom = picture_height(graph, options.minimum_share);
  out += "<g class=\"static\" transform=\"translate(0 " + std::to_string(bottom - kFooterHeight) +
         ")\">\n";
  if (graph.total == 0) {
    append_text(out, kPictureWidth / 2.0, 0, "class=\"h\" text-anchor=\"middle\"",
                "There are no samples to show.");
    append_text(out, kPictureWidth / 2.0, 20, "class=\"m\" text-anchor=\"middle\"",
                fit_label(clean_text(options.empty_hint), kGraphWidth));
  }
  append_text(out, kSideMargin, 18, "class=\"m\"", footer_text(graph, options));
  out += "</g>\n";
}

}  // namespace lumbre::output
