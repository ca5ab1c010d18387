#include "symbolizer/python/layouts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace lumbre {
namespace {

TEST(LayoutOfVersion, IsRefusedForVersionsThatAreNotKnown) {
  for (const PythonVersion& version :
       {PythonVersion{2, 7, 18, false}, {3, 7, 16, false}, {3, 13, 0, false}, {4, 0, 0, false}}) {
    const auto layout = layout_of_version(version);
    ASSERT_FALSE(layout.has_value());
    EXPECT_EQ(layout.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(layout.error().message.find(version.text()), std::string::npos);
    EXPECT_EQ(layout.error().message.find('\n'), std::string::npos);
  }
}

TEST(LayoutOfVersion, KeepsFrameFieldsWithinWhatTheKernelProgramsRead) {
  for (unsigned minor = 8; minor <= 12; ++minor) {
    const auto layout = layout_of_version({3, minor, 0, false});
    ASSERT_TRUE(layout.has_value());
    EXPECT_LE(layout->frame_bytes, 112);
    EXPECT_GT(layout->frame_bytes, layout->frame_owner);
    EXPECT_LE(layout->code_line_table + 8, 144);
  }
}

TEST(PythonVersion, IsWrittenAsUsersWriteIt) {
  EXPECT_EQ((PythonVersion{3, 11, 7, false}).text(), "3.11.7");
  EXPECT_EQ((PythonVersion{3, 13, 0, true}).text(), "3.13.0t");
}

// _Py_DebugOffsets of a made-up 3.13 in which all fields lie at 8 in structs of 64 bytes.
std::vector<std::uint64_t> made_up_words() {
  std::vector<std::uint64_t> words(128, 64);
  std::memcpy(words.data(), "xdebugpy", 8);
  words[1] = 0x030d01f0;
  words[2] = 0;
  for (const int offset :
       {5, 8, 9, 21, 23, 24, 29, 30, 31, 33, 35, 37, 38, 39, 43, 45, 65, 66, 68, 69, 70}) {
    words[static_cast<std::size_t>(offset)] = 8;
  }
  return words;
}

Result<lumbre_python_layout> read_words(const std::vector<std::uint64_t>& words) {
  return layout_from_debug_offsets(std::as_bytes(std::span(words)));
}

TEST(LayoutFromDebugOffsets, ReadsAConsistentTable) {
  const auto layout = read_words(made_up_words());
  ASSERT_TRUE(layout.has_value()) << layout.error().message;
  EXPECT_EQ(layout->version, 0x030du);
  EXPECT_EQ(layout->frame_instruction, 8);
  EXPECT_EQ(layout->unicode_compact_data, 24);
}

TEST(LayoutFromDebugOffsets, RefusesAnUnknownVersionByName) {
  auto words = made_up_words();
  words[1] = 0x030f00f0;
  const auto layout = read_words(words);
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(layout.error().message.find("3.15.0"), std::string::npos);
}

TEST(LayoutFromDebugOffsets, RefusesAFreeThreadedBuildByName) {
  auto words = made_up_words();
  words[2] = 1;
  const auto layout = read_words(words);
  ASSERT_FALSE(layout.has_value());
  EXPECT_NE(layout.error().message.find("3.13.1t"), std::string::npos);
}

TEST(LayoutFromDebugOffsets, RefusesAPreRelease) {
  auto words = made_up_words();
  words[1] = 0x030d00b2;
  const auto layout = read_words(words);
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().kind, ErrorKind::kUnsupported);
}

TEST(LayoutFromDebugOffsets, RefusesAFieldOutsideItsStruct) {
  auto words = made_up_words();
  words[31] = 60;  // 8 bytes at 60 in a frame of 64
  const auto layout = read_words(words);
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().kind, ErrorKind::kMalformed);
}

TEST(LayoutFromDebugOffsets, RefusesATableThatIsCutShort) {
  auto words = made_up_words();
  words.resize(72);
  EXPECT_FALSE(read_words(words).has_value());
  words.resize(2);
  EXPECT_FALSE(read_words(words).has_value());
  EXPECT_FALSE(layout_from_debug_offsets({}).has_value());
}

TEST(LayoutFromDebugOffsets, RefusesBytesWithoutTheCookie) {
  auto words = made_up_words();
  words[0] ^= 1;
  const auto layout = read_words(words);
  ASSERT_FALSE(layout.has_value());
  EXPECT_EQ(layout.error().kind, ErrorKind::kMalformed);
}

TEST(LayoutFromDebugOffsets, SurvivesAnyWords) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2000; ++round) {
    auto words = made_up_words();
    for (std::size_t at = 3; at < words.size(); ++at) {
      words[at] = random() >> (random() % 64);
    }
    words[1] = random() % 2 == 0 ? 0x030d00f0 : 0x030e00f0;
    const auto layout = read_words(words);
    if (layout.has_value()) {
      EXPECT_LE(layout->frame_bytes, 112);
    }
  }
}

}  // namespace
}  // namespace lumbre
