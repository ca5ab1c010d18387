#include "symbolizer/jit/functions.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

constexpr std::uint64_t kNow = 1000;

JitFunction function(std::uint64_t start, std::uint64_t size_bytes, const std::string& name,
                     std::uint64_t from_ns = 0) {
  JitFunction made;
  made.start = {start};
  made.size_bytes = size_bytes;
  made.name = name;
  made.from_ns = from_ns;
  return made;
}

std::string name_at(const JitFunctions& functions, std::uint64_t address, std::uint64_t time_ns) {
  const JitFunction* found = functions.find({address}, time_ns);
  return found == nullptr ? "" : found->name;
}

TEST(JitFunctions, NamesEveryByteOfAFunctionAndNoOther) {
  JitFunctions functions;
  functions.add(function(0x10ff0, 0x2020, "f"));
  EXPECT_EQ(name_at(functions, 0x10fef, kNow), "");
  EXPECT_EQ(name_at(functions, 0x10ff0, kNow), "f");
  EXPECT_EQ(name_at(functions, 0x12000, kNow), "f");
  EXPECT_EQ(name_at(functions, 0x1300f, kNow), "f");
  EXPECT_EQ(name_at(functions, 0x13010, kNow), "");
}

TEST(JitFunctions, GivesTheNameThatWasValidAtTheTime) {
  JitFunctions functions;
  functions.add(function(0x1000, 0x100, "first", 10));
  functions.add(function(0x1000, 0x80, "second", 20));
  EXPECT_EQ(name_at(functions, 0x1010, 5), "");
  EXPECT_EQ(name_at(functions, 0x1010, 19), "first");
  EXPECT_EQ(name_at(functions, 0x1010, 20), "second");
}

TEST(JitFunctions, ForgetsTheRestOfWhatWasWrittenOver) {
  JitFunctions functions;
  functions.add(function(0x1000, 0x100, "first", 10));
  functions.add(function(0x1000, 0x80, "second", 20));
  EXPECT_EQ(name_at(functions, 0x10f0, 15), "first");
  EXPECT_EQ(name_at(functions, 0x10f0, 25), "");
}

TEST(JitFunctions, KeepsAWholeThatHoldsAPart) {
  JitFunctions functions;
  functions.add(function(0x1000, 0x100, "whole", 10));
  functions.add(function(0x1040, 0x10, "part", 10));
  EXPECT_EQ(name_at(functions, 0x1048, 15), "part");
  EXPECT_EQ(name_at(functions, 0x1060, 15), "whole");
}

TEST(JitFunctions, FollowsAMove) {
  JitFunctions functions;
  functions.add(function(0x1000, 0x100, "f", 10));
  functions.move({0x1000}, {0x9000}, 20);
  EXPECT_EQ(name_at(functions, 0x1010, 15), "f");
  EXPECT_EQ(name_at(functions, 0x1010, 25), "");
  EXPECT_EQ(name_at(functions, 0x9010, 25), "f");
}

TEST(JitFunctions, FindsTheLineAlsoAfterAMove) {
  JitFunctions functions;
  auto debug = std::make_shared<JitDebug>();
  debug->code_start = 0x1000;
  debug->files = {"a.js"};
  debug->lines = {{0x1000, 3, 0}, {0x1020, 4, 0}};
  JitFunction made = function(0x1000, 0x100, "f", 10);
  made.debug = debug;
  functions.add(std::move(made));
  functions.move({0x1000}, {0x9000}, 20);
  const JitFunction* moved = functions.find({0x9030}, 30);
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(moved->line_at({0x9030})->line, 4U);
  EXPECT_EQ(moved->line_at({0x901f})->line, 3U);
}

TEST(JitFunctions, RefusesSizesThatCannotBe) {
  JitFunctions functions;
  functions.add(function(0x1000, 0, "empty"));
  functions.add(function(~std::uint64_t{0} - 5, 100, "around the end"));
  functions.add(function(0x1000, ~std::uint64_t{0}, "everything"));
  EXPECT_EQ(functions.size(), 0U);
}

TEST(JitFunctions, AddsTheSameFunctionOnce) {
  JitFunctions functions;
  functions.add(function(0x1000, 0x100, "f"));
  functions.add(function(0x1000, 0x100, "f"));
  EXPECT_EQ(functions.size(), 1U);
}

TEST(JitFunctions, StaysInsideItsLimitWhenAPageIsCompiledAgainAndAgain) {
  JitFunctions functions;
  for (std::uint64_t i = 0; i < 10 * JitFunctions::kMaxPerPage; ++i) {
    functions.add(function(0x1000, 0x100, "f" + std::to_string(i), i));
  }
  EXPECT_EQ(name_at(functions, 0x1000, ~std::uint64_t{0} - 1),
            "f" + std::to_string(10 * JitFunctions::kMaxPerPage - 1));
}

TEST(JitFunctions, CountsWhatHasNoRoom) {
  JitFunctions functions;
  const std::uint64_t huge = JitFunctions::kMaxFunctionBytes;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    functions.add(function(0x1000, huge - i, "f" + std::to_string(i), i));
  }
  EXPECT_GT(functions.left_out(), 0U);
}

}  // namespace
}  // namespace lumbre
