#include "symbolizer/procfs/maps.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace lumbre {
namespace {

TEST(Maps, ReadsEveryField) {
  const auto entries =
      parse_maps("7f0012345000-7f0012346000 r-xp 0001a000 fe:10 123456   /usr/lib/libc.so.6\n");
  ASSERT_EQ(entries.size(), 1U);
  const auto& entry = entries[0];
  EXPECT_EQ(entry.start.value, 0x7f0012345000U);
  EXPECT_EQ(entry.end.value, 0x7f0012346000U);
  EXPECT_TRUE(entry.is_readable && entry.is_executable && !entry.is_writable);
  EXPECT_EQ(entry.offset.value, 0x1a000U);
  EXPECT_EQ(entry.device_major, 0xfeU);
  EXPECT_EQ(entry.device_minor, 0x10U);
  EXPECT_EQ(entry.inode, 123456U);
  EXPECT_EQ(entry.path, "/usr/lib/libc.so.6");
  EXPECT_FALSE(entry.is_deleted);
}

std::string path_of(const std::string& shown) {
  const auto entries = parse_maps("1000-2000 rw-s 0 0:0 0 " + shown + "\n");
  return entries.empty() ? "no entry" : entries[0].path;
}

TEST(Maps, KeepsSpacesAndUndoesNewlineEscapes) {
  EXPECT_EQ(path_of("     /a b/c  d"), "/a b/c  d");
  EXPECT_EQ(path_of("/two\\012lines"), "/two\nlines");
  EXPECT_EQ(path_of("/back\\slash\\09"), "/back\\slash\\09");
  EXPECT_EQ(path_of(""), "");
  EXPECT_EQ(path_of("[heap]"), "[heap]");
}

TEST(Maps, MarksDeletedFiles) {
  const auto entries = parse_maps("1000-2000 rw-s 0 0:0 7 /tmp/x (deleted)\n");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_TRUE(entries[0].is_deleted);
  EXPECT_EQ(entries[0].path, "/tmp/x");
}

TEST(Maps, SkipsLinesThatDoNotParse) {
  for (const char* line :
       {"", "\n\n", "garbage", "1000-2000", "1000-2000 r", "2000-1000 r--p 0 0:0 0",
        "1000-zz r--p 0 0:0 0", "ffffffffffffffffff-1 r--p 0 0:0 0", "1000-2000 r--p 0 0:0 "}) {
    EXPECT_TRUE(parse_maps(line).empty()) << line;
  }
  EXPECT_EQ(parse_maps("junk\n1000-2000 r--p 0 0:0 0\nmore junk").size(), 1U);
}

int function_in_this_program() { return 1; }

TEST(Maps, HoldsTheCodeOfThisProgram) {
  const auto entries = read_maps(::getpid());
  ASSERT_TRUE(entries.has_value());
  const auto address = reinterpret_cast<std::uint64_t>(&function_in_this_program);
  const auto found = std::find_if(entries->begin(), entries->end(), [&](const MapsEntry& e) {
    return e.start.value <= address && address < e.end.value;
  });
  ASSERT_NE(found, entries->end());
  EXPECT_TRUE(found->is_executable);
  EXPECT_EQ(found->path, std::filesystem::read_symlink("/proc/self/exe").string());
}

TEST(Maps, AreNotFoundForAProcessThatIsNot) {
  const auto entries = read_maps(1 << 30);
  ASSERT_FALSE(entries.has_value());
  EXPECT_EQ(entries.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace lumbre
