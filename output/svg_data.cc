#include "output/svg_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "output/svg_shapes.h"
#include "output/svg_text.h"

namespace lumbre::output {
namespace {

using FrameRecord = std::array<std::uint32_t, 5>;

// Renumbers what the nodes really use, in the order of first use.
class Tables {
 public:
  explicit Tables(const Flamegraph& graph) : graph_(graph) { use_string(0); }

  std::uint32_t use_frame(const FlameNode& node) {
    const unsigned attributes = static_cast<unsigned>(node.kind) + (node.is_inlined ? 8U : 0U) +
                                16 * shade_of(graph_.text(node.name));
    const FrameRecord record = {use_string(node.name), use_string(node.whole_name),
                                use_string(node.file), use_string(node.module), attributes};
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

template <typename Values, typename Function>
void append_array(std::string& out, std::string_view key, const Values& values,
                  const Function& text_of) {
  append_key(out, key);
  out += '[';
  bool is_first = true;
  for (const auto& value : values) {
    if (!is_first) out += ',';
    is_first = false;
    out += text_of(value);
  }
  out += ']';
}

// Sampled values are multiples of the sampling interval: divided by it they take few digits.
std::int64_t common_divisor(const Flamegraph& graph) {
  std::int64_t divisor = 0;
  for (const FlameNode& node : graph.nodes) divisor = std::gcd(divisor, node.self);
  return std::max<std::int64_t>(divisor, 1);
}

std::vector<std::int64_t> several_places(const Flamegraph& graph) {
  std::vector<std::int64_t> places;
  std::size_t last = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const FlameNode& node = graph.nodes[i];
    if (node.place_count < 2) continue;
    const double percent = 100 * static_cast<double>(node.place_value) /
                           static_cast<double>(std::max<std::int64_t>(node.value, 1));
    places.insert(places.end(),
                  {static_cast<std::int64_t>(i - last), static_cast<std::int64_t>(node.place_count),
                   std::llround(percent)});
    last = i;
  }
  return places;
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
  const auto decimal = [](auto value) { return std::to_string(value); };
  Tables tables(graph);
  std::vector<std::uint32_t> frames;
  std::vector<std::int64_t> depths;
  for (const FlameNode& node : graph.nodes) {
    const std::int64_t last = depths.empty() ? 0 : (&node)[-1].depth;
    depths.push_back(std::int64_t{node.depth} - last);
    frames.push_back(tables.use_frame(node));
  }
  const std::int64_t divisor = common_divisor(graph);

  append_settings(graph, options, out);
  append_key(out, "divisor");
  out += std::to_string(divisor);
  append_array(out, "strings", tables.strings(),
               [&](StringId id) { return json_string(clean_text(graph.text(id))); });
  append_array(out, "frames", tables.frames(), [&](const FrameRecord& record) {
    std::string text;
    for (const std::uint32_t part : record) text += (text.empty() ? "" : ",") + decimal(part);
    return text;
  });
  append_array(out, "depth", depths, decimal);
  append_array(out, "frame", frames, decimal);
  append_array(out, "self", graph.nodes,
               [&](const FlameNode& node) { return decimal(node.self / divisor); });
  append_array(out, "line", graph.nodes, [&](const FlameNode& node) { return decimal(node.line); });
  append_array(out, "places", several_places(graph), decimal);
  if (options.is_differential) {
    const auto total = static_cast<double>(std::max<std::int64_t>(graph.total, 1));
    append_array(out, "base", graph.nodes, [&](const FlameNode& node) {
      return decimal(std::llround(static_cast<double>(node.base_value) / total * 1e7));
    });
  }
  out += "}";
}

}  // namespace lumbre::output
