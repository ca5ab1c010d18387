#include "symbolizer/jit/perf_map.h"

#include <gtest/gtest.h>

#include <vector>

namespace lumbre {
namespace {

class PerfMapTest : public ::testing::Test {
 protected:
  void feed(std::string_view text) {
    parser_.feed(text, [this](const PerfMapParser::Entry& entry) {
      seen_.push_back(std::to_string(entry.start.value) + "+" + std::to_string(entry.size_bytes) +
                      " " + std::string(entry.name));
    });
  }

  PerfMapParser parser_;
  std::vector<std::string> seen_;
};

TEST_F(PerfMapTest, KeepsTheWholeNameWithItsSpaces) {
  feed("10 20 Foo bar(int, char)<T>\n0x11 0x2 b\n");
  EXPECT_EQ(seen_, (std::vector<std::string>{"16+32 Foo bar(int, char)<T>", "17+2 b"}));
}

TEST_F(PerfMapTest, WaitsForTheRestOfALine) {
  feed("10 2");
  feed("0 na");
  EXPECT_TRUE(seen_.empty());
  feed("me\n11 ");
  EXPECT_EQ(seen_, (std::vector<std::string>{"16+32 name"}));
}

TEST_F(PerfMapTest, SkipsLinesThatAreNone) {
  feed(
      "\n \nxyz\n10\n10 20\n10 20 \n10 zz f\n-1 2 f\n10 0 empty\n123456789012345678901 1 f\n2 3 "
      "g\n");
  EXPECT_EQ(seen_, (std::vector<std::string>{"2+3 g"}));
}

TEST_F(PerfMapTest, SurvivesALineWithoutAnEnd) {
  feed("10 20 ");
  for (int i = 0; i < 1000; ++i) {
    feed(std::string(10000, 'x'));
  }
  feed("\n1 2 f\n");
  ASSERT_EQ(seen_.size(), 2U);
  EXPECT_LE(seen_[0].size(), PerfMapParser::kMaxNameBytes + 10);
  EXPECT_EQ(seen_[1], "1+2 f");
}

}  // namespace
}  // namespace lumbre
