#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "output/formats.h"
#include "output/utf8.h"
#include "tests/unit/output/formats_sample.h"

namespace lumbre::output {
namespace {

const Location& only_location(const Profile& profile, std::size_t from_leaf = 0) {
  return profile.locations[profile.samples.at(0).locations.at(from_leaf)];
}

Profile read(std::string_view text) {
  std::string error;
  std::optional<Profile> profile = read_folded(text, &error);
  EXPECT_TRUE(profile.has_value()) << error;
  return profile.has_value() ? std::move(*profile) : Profile();
}

TEST(Folded, StacksAreRootFirstWithMarksForKernelInlinedAndJit) {
  EXPECT_EQ(folded_text(make_sample_profile(), 0),
            "[truncated: no unwind data];[jit]_[j] 2\n"
            "_start;Trainer.step;at::matmul;dot_[i];copy_user_generic_[k] 3\n"
            "_start;Trainer.step;at::matmul;dot_[i];libmkl.so+0x2010 1\n");
}

TEST(Folded, TheAskedSampleTypeIsWrittenAndEqualStacksAreOneLine) {
  Profile profile = make_sample_profile();
  profile.samples.push_back(profile.samples[2]);
  const std::string text = folded_text(profile, 1);
  EXPECT_NE(text.find("[jit]_[j] 40404040\n"), std::string::npos) << text;
}

TEST(Folded, NamesCannotBreakTheLineFormat) {
  const Profile profile =
      make_stack_profile({"a;b", "two\nlines\r", std::string("nul\0", 4), "bad\xFF", ""});
  EXPECT_EQ(folded_text(profile), "a:b;two lines ;nul ;bad\xEF\xBF\xBD;trainer+0x4 1\n");
}

TEST(Folded, KindsAndInlinedFramesSurviveARoundTrip) {
  const std::string text = folded_text(make_sample_profile());
  const Profile profile = read(text);
  EXPECT_EQ(folded_text(profile), text);
  const Sample& sample = profile.samples[1];
  ASSERT_EQ(sample.locations.size(), 4u);
  EXPECT_EQ(profile.locations[sample.locations[0]].kind, FrameKind::kKernel);
  const Location& inlined = profile.locations[sample.locations[1]];
  ASSERT_EQ(inlined.lines.size(), 2u);
  EXPECT_EQ(profile.text(profile.functions[inlined.lines[0].function].name), "dot");
  EXPECT_EQ(only_location(profile, 0).kind, FrameKind::kJit);
  EXPECT_EQ(only_location(profile, 1).kind, FrameKind::kTruncated);
}

TEST(Folded, PySpyFramesAreTakenApart) {
  const Profile profile = read("<module> (train.py:90);step (/app/train.py:42) 7\n");
  const Location& leaf = only_location(profile);
  EXPECT_EQ(leaf.kind, FrameKind::kPython);
  EXPECT_EQ(leaf.lines[0].line, 42);
  const Function& function = profile.functions[leaf.lines[0].function];
  EXPECT_EQ(profile.text(function.name), "step");
  EXPECT_EQ(profile.text(function.filename), "/app/train.py");
}

TEST(Folded, NamesMayHoldSpacesAndParentheses) {
  const Profile profile = read("std::map<int, long>::find(int const&) const;operator() (x) 12");
  EXPECT_EQ(folded_text(profile),
            "std::map<int, long>::find(int const&) const;operator() (x) 12\n");
}

TEST(Folded, LinesWithoutACountAreSkippedAndCounted) {
  const Profile profile = read("Attaching 1 probe...\nmain;f 3\r\n\n# comment\n");
  EXPECT_EQ(profile.samples.size(), 1u);
  ASSERT_EQ(profile.comments.size(), 1u);
  EXPECT_EQ(profile.text(profile.comments[0]), "folded: skipped 1 lines without a count");
}

TEST(Folded, EmptyInputIsAnEmptyProfileAndAnotherFormatIsRefused) {
  EXPECT_TRUE(read("").samples.empty());
  std::string error;
  EXPECT_FALSE(read_folded(pprof_bytes(make_sample_profile()), &error).has_value());
  EXPECT_EQ(error, "not folded stacks: no line ends in a space and a whole number");
}

TEST(FoldedHostile, RandomDamageIsReadAndWritable) {
  const std::string text = folded_text(make_sample_profile());
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = text.substr(0, random() % text.size());
    for (unsigned i = 0; i < random() % 6 && !damaged.empty(); ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const std::optional<Profile> profile = read_folded(damaged, nullptr);
    if (!profile.has_value()) continue;
    std::ostringstream out;
    EXPECT_TRUE(write_folded(*profile, 0, out));
    EXPECT_TRUE(is_valid_utf8(out.str()));
    EXPECT_FALSE(pprof_bytes(*profile).empty());
  }
}

}  // namespace
}  // namespace lumbre::output
