#include "output/svg_data.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "output/svg_shapes.h"
#include "output/svg_text.h"

namespace lumbre::output {
namespace {

using FrameRecord = std::array<std::int64_t, 6>;

// Renumbers what the nodes really use, in the order of first use.
class Tables {
 public:
  explicit Tables(const Flamegraph& graph) : graph_(graph) { use_string(0); }

  std::uint32_t use_frame(const FlameNode& node) {
    const unsigned attributes = static_cast<unsigned>(node.kind) + (node.is_inlined ? 8U : 0U) +
                                16 * shade_of(graph_.text(node.name));
    const FrameRecord record = {use_string(node.name),
                                use_string(node.whole_name),
                                use_string(node.file),
                                use_string(node.module),
                                attributes,
                                node.line};
    const auto [found, is_new] =
        frame_ids_.try_emplace(record, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) frames_.push_back(record);
    return found->second;
  }
  const std::vector<FrameRecord>& frames() const { return frames_; }
  const std::vector<StringId>& strings() const { return strings_; }

 private:
  std::uint32_t use_string(StringId id) {
    const auto [found, is_new] =
        string_ids_.try_emplace(id, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) strings_.push_back(id);
    return found->second;
  }

  const Flamegraph& graph_;
  std::vector<StringId> strings_;
  std::unordered_map<StringId, std::uint32_t> string_ids_;
  std::vector<FrameRecord> frames_;
  std::map<FrameRecord, std::uint32_t> frame_ids_;
};

void append_key(std::string& out, std::string_view key) {
  out += ",\n\"" + std::string(key) + "\":";
}

// See svg_data.h for the form.
class NumberList {
 public:
  void add(std::int64_t number) {
    if (has_any_) text_ += ',';
    has_any_ = true;
    if (number == 0) return;
    std::array<char, 65> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), number, 36).ptr;
    text_.append(digits.begin(), end);
  }
  void append_to(std::string& out, std::string_view key) const {
    append_key(out, key);
    out += '"' + text_ + '"';
  }

 private:
  std::string text_;
  bool has_any_ = false;
};

// Sampled values are multiples of the sampling interval: divided by it they take few digits.
std::int64_t common_divisor(const Flamegraph& graph) {
  std::int64_t divisor = 0;
  for (const FlameNode& node : graph.nodes) divisor = std::gcd(divisor, node.self);
  return std::max<std::int64_t>(divisor, 1);
}

NumberList several_places(const Flamegraph& graph) {
  NumberList places;
  std::size_t last = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const FlameNode& node = graph.nodes[i];
    if (node.place_count < 2) continue;
    places.add(static_cast<std::int64_t>(i - last));
    places.add(node.place_count);
    places.add(std::llround(100 * static_cast<double>(node.place_value) /
                            static_cast<double>(std::max<std::int64_t>(node.value, 1))));
    last = i;
  }
  return places;
}

NumberList base_shares(const Flamegraph& graph) {
  NumberList shares;
  const auto total = static_cast<double>(std::max<std::int64_t>(graph.total, 1));
  for (const FlameNode& node : graph.nodes) {
    shares.add(std::llround(static_cast<double>(node.base_value) / total * 1e7));
  }
  return shares;
}

void append_strings(const Flamegraph& graph, const Tables& tables, std::string& out) {
  append_key(out, "strings");
  out += '[';
  for (const StringId id : tables.strings()) {
    if (out.back() != '[') out += ',';
    out += json_string(clean_text(graph.text(id)));
  }
  out += ']';
}

void append_settings(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  const auto text = [&](std::string_view key, const std::string& value) {
    append_key(out, key);
    out += json_string(clean_text(value));
  };
  out += "{\"version\":1";
  text("title", options.title);
  text("subtitle", options.subtitle);
  text("unit", options.unit);
  text("total_text", total_text(graph, options));
  text("footer", footer_text(graph, options));
  text("empty_hint", options.empty_hint);
  append_key(out, "inverted");
  out += options.is_inverted ? "true" : "false";
  append_key(out, "differential");
  out += options.is_differential ? "true" : "false";
  append_key(out, "base_total");
  out += std::to_string(graph.base_total);
}

}  // namespace

void append_data(const Flamegraph& graph, const SvgOptions& options, std::string& out) {
  const std::int64_t divisor = common_divisor(graph);
  Tables tables(graph);
  NumberList up, frame, self, frames;
  std::int64_t last_depth = -1;
  for (const FlameNode& node : graph.nodes) {
    up.add(last_depth + 1 - std::int64_t{node.depth});
    last_depth = node.depth;
    frame.add(tables.use_frame(node));
    self.add(node.self / divisor);
  }
  for (const FrameRecord& record : tables.frames()) {
    for (const std::int64_t part : record) frames.add(part);
  }
  append_settings(graph, options, out);
  append_key(out, "divisor");
  out += std::to_string(divisor);
  append_strings(graph, tables, out);
  frames.append_to(out, "frames");
  up.append_to(out, "up");
  frame.append_to(out, "frame");
  self.append_to(out, "self");
  several_places(graph).append_to(out, "places");
  if (options.is_differential) base_shares(graph).append_to(out, "base");
  out += "}";
}

}  // namespace lumbre::output
