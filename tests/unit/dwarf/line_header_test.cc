#include "symbolizer/dwarf/line_header.h"

#include <gtest/gtest.h>

#include "line_bytes.h"

namespace lumbre::dwarf {
namespace {

// One directory format (a string) and one file format (string, directory as udata).
Bytes new_tables() {
  Bytes tables;
  tables.u8(1).uleb(line_content::kPath).uleb(form::kString);
  tables.uleb(2).string("/build").string("sub");
  tables.u8(2).uleb(line_content::kPath).uleb(form::kString);
  tables.uleb(line_content::kDirectoryIndex).uleb(form::kUdata);
  return tables.uleb(2).string("main.cc").uleb(0).string("part.h").uleb(1);
}

TEST(LineHeader, NumbersFilesFromOneBeforeDwarf5) {
  const Bytes section = line_section({.version = 3}, old_tables(), Bytes());
  const auto header = parse_header(section);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->path(1, "/build"), "/build/dir/a.cc");
  EXPECT_EQ(header->path(2, "/build"), "/abs/b.cc");
  EXPECT_EQ(header->path(0, "/build"), "");
  EXPECT_EQ(header->path(3, "/build"), "");
}

TEST(LineHeader, NumbersFilesFromZeroInDwarf5) {
  const Bytes section = line_section({.version = 5}, new_tables(), Bytes());
  const auto header = parse_header(section);
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->path(0, "/elsewhere"), "/build/main.cc");
  EXPECT_EQ(header->path(1, "/build"), "/build/sub/part.h");
  EXPECT_EQ(header->path(2, "/build"), "");
}

TEST(LineHeader, KeepsAPathRelativeWithoutACompilationFolder) {
  EXPECT_EQ(join_path("", "a.cc"), "a.cc");
  EXPECT_EQ(join_path("/src/", "a.cc"), "/src/a.cc");
  EXPECT_EQ(join_path("/src", "/abs/a.cc"), "/abs/a.cc");
}

TEST(LineHeader, RefusesALineRangeOfZero) {
  const Bytes section = line_section({.line_range = 0}, old_tables(), Bytes());
  EXPECT_FALSE(parse_header(section).has_value());
}

TEST(LineHeader, StopsAtACountThatTheBytesCannotHold) {
  Bytes tables;
  tables.u8(1).uleb(line_content::kPath).uleb(form::kString);
  tables.uleb(~std::uint64_t{0}).string("/build");
  const Bytes section = line_section({.version = 5}, tables, Bytes());
  const auto header = parse_header(section);
  ASSERT_TRUE(header.has_value());
  EXPECT_LE(header->directories.size(), 2u);
}

TEST(LineHeader, StopsAtEntriesThatTakeNoBytes) {
  Bytes tables;
  tables.u8(0).uleb(~std::uint64_t{0});  // no formats, and very many directories
  tables.u8(1).uleb(line_content::kPath).uleb(form::kFlagPresent).uleb(~std::uint64_t{0});
  const Bytes section = line_section({.version = 5}, tables, Bytes());
  const auto header = parse_header(section);
  ASSERT_TRUE(header.has_value());
  EXPECT_TRUE(header->directories.empty());
  EXPECT_TRUE(header->files.empty());
}

TEST(LineHeader, RefusesALengthBeyondTheSection) {
  const Bytes whole = line_section({}, old_tables(), Bytes());
  Bytes longer;
  longer.u32(0xfffffff0);
  longer.append(whole);
  EXPECT_FALSE(parse_header(longer).has_value());
}

}  // namespace
}  // namespace lumbre::dwarf
