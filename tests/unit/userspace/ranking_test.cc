#include "userspace/report/ranking.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

class RankingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    profile_.sample_types = {{profile_.intern("cpu"), profile_.intern("nanoseconds")}};
  }
  output::LocationId location(const std::string& name, output::FrameKind kind) {
    output::Location place;
    const output::StringId id = profile_.intern(name);
    place.kind = kind;
    place.lines.push_back({profile_.add_function({id, id, 0, 0}), 0, 0});
    return profile_.add_location(place);
  }
  void add(std::vector<output::LocationId> leaf_first, std::int64_t value) {
    profile_.samples.push_back({std::move(leaf_first), {value}, {}});
  }
  output::Profile profile_;
};

TEST_F(RankingTest, CountsARecursiveFunctionOncePerSample) {
  const auto f = location("f", output::FrameKind::kNative);
  add({f, f, f}, 10);
  const Ranking ranking = rank(profile_, 0, RankBy::kFunction);
  ASSERT_EQ(ranking.rows.size(), 1u);
  EXPECT_EQ(ranking.rows[0].self, 10);
  EXPECT_EQ(ranking.rows[0].total, 10);
}

TEST_F(RankingTest, OrdersBySelfAndSumsAll) {
  const auto main = location("main", output::FrameKind::kNative);
  const auto hot = location("hot", output::FrameKind::kNative);
  add({hot, main}, 70);
  add({main}, 30);
  const Ranking ranking = rank(profile_, 0, RankBy::kFunction);
  EXPECT_EQ(ranking.sum, 100);
  EXPECT_EQ(ranking.rows[0].name, "hot");
  EXPECT_EQ(ranking.rows[1].self, 30);
  EXPECT_EQ(ranking.rows[1].total, 100);
}

TEST_F(RankingTest, AddsUpWhatHasNoName) {
  add({location("lib.so+0x10", output::FrameKind::kUnknown)}, 7);
  add({location("named", output::FrameKind::kNative)}, 3);
  EXPECT_EQ(rank(profile_, 0, RankBy::kFunction).unattributed, 7);
}

TEST(HumanValue, FollowsTheUnit) {
  EXPECT_EQ(human_value(1'500'000'000, "nanoseconds"), "1.50 s");
  EXPECT_EQ(human_value(1'500'000, "nanoseconds"), "1.5 ms");
  EXPECT_EQ(human_value(3 << 19, "bytes"), "1.5 MiB");
  EXPECT_EQ(human_value(12, "count"), "12");
}

}  // namespace
}  // namespace lumbre
