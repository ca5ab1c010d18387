#include "output/flamegraph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lumbre::output {
namespace {

// Equal strings of one or several profiles get one id; 0 is "".
class StringTable {
 public:
  StringTable() { intern(""); }

  StringId intern(std::string_view text) {
    const auto [found, is_new] = ids_.try_emplace(std::string(text), 0);
    if (is_new) {
      found->second = static_cast<StringId>(strings_.size());
      strings_.emplace_back(text);
    }
    return found->second;
  }
  std::vector<std::string> take() { return std::move(strings_); }

 private:
  std::unordered_map<std::string, StringId> ids_;
  std::vector<std::string> strings_;
};

// Where exactly a frame was: what hover shows.
struct Place {
  StringId name = 0;
  StringId whole_name = 0;
  StringId file = 0;
  StringId module = 0;
  std::int64_t line = 0;
  FrameKind kind = FrameKind::kUnknown;
  bool operator==(const Place&) const = default;
};

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15U ^ (hash >> 29);
}

struct PlaceHash {
  std::size_t operator()(const Place& place) const {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(place.kind), place.name);
    hash = mix(mix(hash, place.whole_name), place.file);
    return mix(mix(hash, place.module), static_cast<std::uint64_t>(place.line));
  }
};

// What frames are merged by.
struct Identity {
  StringId name = 0;
  StringId file = 0;  // Python alone
  FrameKind kind = FrameKind::kUnknown;
  bool operator==(const Identity&) const = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    return mix(mix(static_cast<std::uint64_t>(identity.kind), identity.name), identity.file);
  }
};

// One frame of a stack: a location stands for several where functions were inlined.
struct Step {
  std::uint32_t identity = 0;
  std::uint32_t place = 0;
  bool is_inlined = false;
};

std::string hexadecimal(std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[number % 16]);
    number /= 16;
  } while (number != 0);
  return "0x" + text;
}

std::string name_of_address(const Profile& profile, const Location& location) {
  if (location.mapping < profile.mappings.size()) {
    const Mapping& mapping = profile.mappings[location.mapping];
    const std::string& path = profile.text(mapping.filename);
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!name.empty()) {
      return name + "+" +
             hexadecimal(location.address - mapping.memory_start + mapping.file_offset);
    }
  }
  return location.address == 0 ? "[unknown]" : hexadecimal(location.address);
}

// The distinct frames of both profiles, numbered.
class FrameTable {
 public:
  // The frames of every location of `profile`, outermost first.
  std::vector<std::vector<Step>> steps_of(const Profile& profile);

  const Place& place(std::uint32_t id) const { return places_[id]; }
  const Identity& identity(std::uint32_t id) const { return identities_[id]; }
  StringTable strings;

 private:
  Step add(const Place& place);
  Place place_of(const Profile& profile, const Location& location, const Line* line);

  std::vector<Place> places_;
  std::vector<Identity> identities_;
  std::unordered_map<Place, std::uint32_t, PlaceHash> place_ids_;
  std::unordered_map<Identity, std::uint32_t, IdentityHash> identity_ids_;
};

Step FrameTable::add(const Place& place) {
  const auto [found_place, is_new_place] =
      place_ids_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (is_new_place) places_.push_back(place);
  const bool is_python = place.kind == FrameKind::kPython;
  const Identity identity{place.name, is_python ? place.file : 0, place.kind};
  const auto [found, is_new] =
      identity_ids_.try_emplace(identity, static_cast<std::uint32_t>(identities_.size()));
  if (is_new) identities_.push_back(identity);
  return {.identity = found->second, .place = found_place->second};
}

Place FrameTable::place_of(const Profile& profile, const Location& location, const Line* line) {
  Place place{.kind = location.kind};
  if (line != nullptr && line->function < profile.functions.size()) {
    const Function& function = profile.functions[line->function];
    const std::string& whole = profile.text(function.system_name);
    const std::string& name = profile.text(function.name);
    place.name = strings.intern(name.empty() ? whole : name);
    place.whole_name = whole == name ? 0 : strings.intern(whole);
    place.file = strings.intern(profile.text(function.filename));
    place.line = std::max<std::int64_t>(line->line, 0);
  }
  if (place.name == 0) place.name = strings.intern(name_of_address(profile, location));
  const bool has_module =
      location.kind != FrameKind::kPython && location.mapping < profile.mappings.size();
  if (has_module) {
    place.module = strings.intern(profile.text(profile.mappings[location.mapping].filename));
  }
  return place;
}

std::vector<std::vector<Step>> FrameTable::steps_of(const Profile& profile) {
  std::vector<std::vector<Step>> steps;
  steps.reserve(profile.locations.size());
  for (const Location& location : profile.locations) {
    std::vector<Step>& frames = steps.emplace_back();
    if (location.lines.empty()) frames.push_back(add(place_of(profile, location, nullptr)));
    for (std::size_t i = location.lines.size(); i-- > 0;) {
      frames.push_back(add(place_of(profile, location, &location.lines[i])));
      frames.back().is_inlined = i + 1 < location.lines.size();
    }
  }
  return steps;
}

// The call tree while stacks are added; nodes in the order of their first sample.
class CallTree {
 public:
  CallTree() : nodes_(1) {}

  void add_samples(const Profile& profile, std::uint32_t sample_type);
  void add_base_samples(const Profile& profile, std::uint32_t sample_type);
  Flamegraph finish();

 private:
  struct Node {
    std::uint32_t parent = kNone;
    std::uint32_t identity = 0;
    bool is_inlined = true;
    std::int64_t value = 0;
    std::int64_t self = 0;
    std::int64_t base_value = 0;
    std::uint32_t place = 0;
    std::int64_t place_value = 0;
    std::uint32_t place_count = 0;
  };

  static std::uint64_t key(std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  }
  std::uint32_t child_of(std::uint32_t parent, const Step& step, std::int64_t value);
  void choose_places();
  std::vector<std::vector<std::uint32_t>> sorted_children(
      const std::vector<std::string>& strings) const;
  FlameNode make_node(std::uint32_t id) const;
  void append_in_order(Flamegraph* graph) const;

  FrameTable frames_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;         // (parent, identity)
  std::unordered_map<std::uint64_t, std::int64_t> values_at_places_;  // (node, place)
  std::int64_t base_total_ = 0;
  std::int64_t base_gone_ = 0;
};

// The value of a sample, cut so that `total` plus it does not overflow; 0 where it has none.
std::int64_t value_of(const Sample& sample, std::uint32_t sample_type, std::int64_t total) {
  if (sample_type >= sample.values.size()) return 0;
  const std::int64_t room = std::numeric_limits<std::int64_t>::max() - total;
  return std::clamp<std::int64_t>(sample.values[sample_type], 0, room);
}

std::uint32_t CallTree::child_of(std::uint32_t parent, const Step& step, std::int64_t value) {
  const auto [found, is_new] =
      children_.try_emplace(key(parent, step.identity), static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) {
    Node& node = nodes_.emplace_back();
    node.parent = parent;
    node.identity = step.identity;
  }
  Node& node = nodes_[found->second];
  node.is_inlined = node.is_inlined && step.is_inlined;
  values_at_places_[key(found->second, step.place)] += value;
  return found->second;
}

void CallTree::add_samples(const Profile& profile, std::uint32_t sample_type) {
  const std::vector<std::vector<Step>> steps = frames_.steps_of(profile);
  for (const Sample& sample : profile.samples) {
    const std::int64_t value = value_of(sample, sample_type, nodes_[0].value);
    if (value == 0) continue;
    std::uint32_t node = 0;
    nodes_[0].value += value;
    for (std::size_t i = sample.locations.size(); i-- > 0;) {
      if (sample.locations[i] >= steps.size()) continue;
      for (const Step& step : steps[sample.locations[i]]) {
        node = child_of(node, step, value);
        nodes_[node].value += value;
      }
    }
    nodes_[node].self += value;
  }
}

void CallTree::add_base_samples(const Profile& profile, std::uint32_t sample_type) {
  const std::vector<std::vector<Step>> steps = frames_.steps_of(profile);
  for (const Sample& sample : profile.samples) {
    const std::int64_t value = value_of(sample, sample_type, base_total_);
    base_total_ += value;
    nodes_[0].base_value += value;
    std::uint32_t node = 0;
    bool is_gone = false;
    for (std::size_t i = sample.locations.size(); i-- > 0 && !is_gone;) {
      if (sample.locations[i] >= steps.size()) continue;
      for (const Step& step : steps[sample.locations[i]]) {
        const auto child = children_.find(key(node, step.identity));
        is_gone = child == children_.end();
        if (is_gone) break;
        node = child->second;
        nodes_[node].base_value += value;
      }
    }
    if (is_gone) base_gone_ += value;
  }
}

// The commonest place stands for the node; of equally common ones the first in the file.
void CallTree::choose_places() {
  for (const auto& [node_and_place, value] : values_at_places_) {
    Node& node = nodes_[node_and_place >> 32];
    const auto id = static_cast<std::uint32_t>(node_and_place);
    const bool is_better =
        value > node.place_value ||
        (value == node.place_value && std::pair(frames_.place(id).line, id) <
                                          std::pair(frames_.place(node.place).line, node.place));
    if (node.place_count == 0 || is_better) {
      node.place = id;
      node.place_value = value;
    }
    ++node.place_count;
  }
}

// By name; backwards, because append_in_order's stack turns siblings round.
std::vector<std::vector<std::uint32_t>> CallTree::sorted_children(
    const std::vector<std::string>& strings) const {
  std::vector<std::vector<std::uint32_t>> children(nodes_.size());
  for (std::uint32_t id = 1; id < nodes_.size(); ++id) children[nodes_[id].parent].push_back(id);
  for (std::vector<std::uint32_t>& siblings : children) {
    std::sort(siblings.begin(), siblings.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Identity& left = frames_.identity(nodes_[a].identity);
      const Identity& right = frames_.identity(nodes_[b].identity);
      const int order = strings[left.name].compare(strings[right.name]);
      if (order != 0) return order > 0;
      if (left.file != right.file) return strings[left.file] > strings[right.file];
      return left.kind > right.kind;
    });
  }
  return children;
}

FlameNode CallTree::make_node(std::uint32_t id) const {
  const Node& node = nodes_[id];
  FlameNode made;
  made.value = node.value;
  made.self = node.self;
  made.place_value = node.value;
  if (base_total_ > 0) {
    const double scale = static_cast<double>(nodes_[0].value) / static_cast<double>(base_total_);
    made.base_value = std::llround(static_cast<double>(node.base_value) * scale);
  }
  if (id == 0) return made;
  const Place& place = frames_.place(node.place);
  made.name = place.name;
  made.whole_name = place.whole_name;
  made.file = place.file;
  made.module = place.module;
  made.line = place.line;
  made.place_value = node.place_value;
  made.place_count = node.place_count;
  made.kind = place.kind;
  made.is_inlined = node.is_inlined;
  return made;
}

// Depth first with a stack of our own: recursion in the target must not become recursion here.
void CallTree::append_in_order(Flamegraph* graph) const {
  const std::vector<std::vector<std::uint32_t>> children = sorted_children(graph->strings);
  struct Pending {
    std::uint32_t id, parent, depth;
  };
  std::vector<Pending> pending = {{0, kNone, 0}};
  std::vector<std::int64_t> next_start = {};  // by node of the graph: where its next child begins
  while (!pending.empty()) {
    const Pending current = pending.back();
    pending.pop_back();
    FlameNode node = make_node(current.id);
    node.parent = current.parent;
    node.depth = current.depth;
    if (current.parent != kNone) {
      node.start = next_start[current.parent];
      next_start[current.parent] += node.value;
    }
    const auto position = static_cast<std::uint32_t>(graph->nodes.size());
    graph->depth = std::max(graph->depth, node.depth);
    graph->nodes.push_back(node);
    next_start.push_back(node.start);
    for (const std::uint32_t child : children[current.id]) {
      pending.push_back({child, position, current.depth + 1});
    }
  }
}

Flamegraph CallTree::finish() {
  Flamegraph graph;
  choose_places();
  const StringId all = frames_.strings.intern("all");
  graph.strings = frames_.strings.take();
  graph.total = nodes_[0].value;
  graph.base_total = base_total_;
  graph.base_gone = base_gone_;
  append_in_order(&graph);
  graph.nodes[0].name = all;
  return graph;
}

}  // namespace

Flamegraph layout_flamegraph(const Profile& profile, const FlamegraphOptions& options) {
  CallTree tree;
  tree.add_samples(profile, options.sample_type);
  return tree.finish();
}

Flamegraph layout_differential(const Profile& profile, const Profile& base,
                               const FlamegraphOptions& options) {
  CallTree tree;
  tree.add_samples(profile, options.sample_type);
  // The two files may list their sample types in another order.
  std::uint32_t base_type = options.sample_type;
  if (options.sample_type < profile.sample_types.size()) {
    const std::string& name = profile.text(profile.sample_types[options.sample_type].type);
    for (std::uint32_t i = 0; i < base.sample_types.size(); ++i) {
      if (base.text(base.sample_types[i].type) == name) base_type = i;
    }
  }
  tree.add_base_samples(base, base_type);
  return tree.finish();
}

}  // namespace lumbre::output
