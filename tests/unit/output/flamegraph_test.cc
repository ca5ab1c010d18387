#include "output/flamegraph.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "svg_sample.h"

namespace lumbre::output {
namespace {

using test::make_small_profile;
using test::ProfileBuilder;

const FlameNode* find(const Flamegraph& graph, std::string_view name) {
  for (const FlameNode& node : graph.nodes) {
    if (graph.text(node.name) == name) return &node;
  }
  return nullptr;
}

Flamegraph layout(const Profile& profile) { return layout_flamegraph(profile, {}); }

TEST(Flamegraph, GivesEveryFrameItsSelfValueAndItsChildrens) {
  const Flamegraph graph = layout(make_small_profile());
  std::map<std::uint32_t, std::int64_t> of_children;
  for (const FlameNode& node : graph.nodes) {
    if (node.parent != kNone) of_children[node.parent] += node.value;
  }
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(graph.nodes[i].value, graph.nodes[i].self + of_children[i]);
  }
  EXPECT_EQ(graph.total, 999'500'000);
  EXPECT_EQ(graph.nodes[0].value, graph.total);
}

TEST(Flamegraph, LaysChildrenInsideTheirParentWithoutOverlap) {
  const Flamegraph graph = layout(make_small_profile());
  std::map<std::uint32_t, std::int64_t> right_edge;
  for (const FlameNode& node : graph.nodes) {
    if (node.parent == kNone) continue;
    const FlameNode& parent = graph.nodes[node.parent];
    EXPECT_EQ(node.depth, parent.depth + 1);
    EXPECT_GE(node.start, parent.start);
    EXPECT_LE(node.start + node.value, parent.start + parent.value);
    EXPECT_GE(node.start, right_edge[node.depth]);
    right_edge[node.depth] = node.start + node.value;
  }
}

TEST(Flamegraph, OrdersSiblingsByName) {
  ProfileBuilder builder;
  builder.sample({"n:c"}, 1);
  builder.sample({"n:a"}, 1);
  builder.sample({"n:b"}, 1);
  const Flamegraph graph = layout(builder.profile);
  ASSERT_EQ(graph.nodes.size(), 4U);
  EXPECT_EQ(graph.text(graph.nodes[1].name), "a");
  EXPECT_EQ(graph.text(graph.nodes[2].name), "b");
  EXPECT_EQ(graph.text(graph.nodes[3].name), "c");
}

TEST(Flamegraph, MergesLinesOfOneFunctionAndNamesTheCommonest) {
  const Flamegraph graph = layout(make_small_profile());
  const FlameNode* step = find(graph, "Trainer.step");
  ASSERT_NE(step, nullptr);
  EXPECT_EQ(step->line, 40);
  EXPECT_EQ(step->place_count, 2U);
  EXPECT_EQ(step->place_value, 600'000'000);
  EXPECT_EQ(step->value, 850'000'000);
}

TEST(Flamegraph, KeepsPythonFunctionsOfOneNameInTwoFilesApart) {
  ProfileBuilder builder;
  builder.sample({"p:forward@a.py:1"}, 1);
  builder.sample({"p:forward@b.py:1"}, 2);
  const Flamegraph graph = layout(builder.profile);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.text(graph.nodes[1].file), "a.py");
  EXPECT_EQ(graph.text(graph.nodes[2].file), "b.py");
}

TEST(Flamegraph, KeepsAKernelFunctionApartFromANativeOneOfTheSameName) {
  ProfileBuilder builder;
  builder.sample({"n:read"}, 1);
  builder.sample({"k:read"}, 1);
  EXPECT_EQ(layout(builder.profile).nodes.size(), 3U);
}

TEST(Flamegraph, MergesNativeFunctionsOfOneNameAcrossFiles) {
  ProfileBuilder builder;
  builder.sample({"n:f@a.cc:1"}, 1);
  builder.sample({"n:f@b.cc:1"}, 3);
  const Flamegraph graph = layout(builder.profile);
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.text(graph.nodes[1].file), "b.cc");
  EXPECT_EQ(graph.nodes[1].place_count, 2U);
}

TEST(Flamegraph, ExpandsInlinedFunctionsOutermostFirst) {
  ProfileBuilder builder;
  Profile& profile = builder.profile;
  Location location = profile.locations[builder.frame("n:outer")];
  const Location inner = profile.locations[builder.frame("n:inner")];
  location.lines.insert(location.lines.begin(), inner.lines[0]);
  profile.samples.push_back(
      {.locations = {profile.add_location(location)}, .values = {7}, .labels = {}});
  const Flamegraph graph = layout(profile);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.text(graph.nodes[1].name), "outer");
  EXPECT_FALSE(graph.nodes[1].is_inlined);
  EXPECT_EQ(graph.text(graph.nodes[2].name), "inner");
  EXPECT_TRUE(graph.nodes[2].is_inlined);
  EXPECT_EQ(graph.nodes[2].self, 7);
}

TEST(Flamegraph, NamesAnAddressWithoutAFunctionByModuleAndOffset) {
  Profile profile;
  Mapping mapping;
  mapping.memory_start = 0x1000;
  mapping.file_offset = 0x200;
  mapping.filename = profile.intern("/opt/mkl/libmkl.so");
  Location location;
  location.mapping = profile.add_mapping(mapping);
  location.address = 0x1034;
  profile.samples.push_back(
      {.locations = {profile.add_location(location)}, .values = {1}, .labels = {}});
  const Flamegraph graph = layout(profile);
  EXPECT_NE(find(graph, "libmkl.so+0x234"), nullptr);
}

TEST(Flamegraph, SkipsSamplesWithoutValueAndIdsOutOfRange) {
  ProfileBuilder builder;
  builder.sample({"n:a"}, 0);
  builder.sample({"n:b"}, -5);
  builder.profile.samples.push_back({.locations = {999}, .values = {2}, .labels = {}});
  builder.profile.samples.push_back({.locations = {0}, .values = {}, .labels = {}});
  const Flamegraph graph = layout(builder.profile);
  EXPECT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.total, 2);
  EXPECT_EQ(graph.nodes[0].self, 2);
}

TEST(Flamegraph, DoesNotOverflowOnHugeValues) {
  ProfileBuilder builder;
  builder.sample({"n:a"}, std::numeric_limits<std::int64_t>::max());
  builder.sample({"n:b"}, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(layout(builder.profile).total, std::numeric_limits<std::int64_t>::max());
}

TEST(Flamegraph, HoldsAStackOfAMillionFrames) {
  ProfileBuilder builder;
  builder.sample({"n:recurse"}, 1);
  builder.profile.samples[0].locations.assign(1'000'000, 0);
  EXPECT_EQ(layout(builder.profile).depth, 1'000'000U);
}

TEST(Differential, ScalesTheBaseToTheSameTotal) {
  ProfileBuilder now, base;
  now.sample({"n:a"}, 300);
  now.sample({"n:b"}, 100);
  base.sample({"n:a"}, 10);
  base.sample({"n:b"}, 10);
  const Flamegraph graph = layout_differential(now.profile, base.profile, {});
  EXPECT_EQ(find(graph, "a")->base_value, 200);
  EXPECT_EQ(find(graph, "b")->base_value, 200);
  EXPECT_EQ(graph.nodes[0].base_value, 400);
  EXPECT_EQ(graph.base_total, 20);
}

TEST(Differential, CountsWhatIsGone) {
  ProfileBuilder now, base;
  now.sample({"n:main", "n:a"}, 10);
  base.sample({"n:main", "n:old"}, 3);
  base.sample({"n:main", "n:a"}, 7);
  const Flamegraph graph = layout_differential(now.profile, base.profile, {});
  EXPECT_EQ(graph.base_gone, 3);
  EXPECT_EQ(find(graph, "main")->base_value, 10);
  EXPECT_EQ(find(graph, "a")->base_value, 7);
  EXPECT_EQ(find(graph, "old"), nullptr);
}

TEST(Differential, FindsTheSampleTypeByNameInTheBase) {
  ProfileBuilder now, base;
  now.sample({"n:a"}, 5);
  base.sample({"n:a"}, 1);
  Profile& other = base.profile;
  other.sample_types.insert(other.sample_types.begin(),
                            {other.intern("samples"), other.intern("count")});
  other.samples[0].values = {1, 40};
  EXPECT_EQ(layout_differential(now.profile, other, {}).base_total, 40);
}

TEST(Differential, HasNoBaseValuesWhenTheBaseIsEmpty) {
  ProfileBuilder now, base;
  now.sample({"n:a"}, 5);
  const Flamegraph graph = layout_differential(now.profile, base.profile, {});
  EXPECT_EQ(find(graph, "a")->base_value, 0);
  EXPECT_EQ(graph.base_total, 0);
}

}  // namespace
}  // namespace lumbre::output
