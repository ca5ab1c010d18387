// Names and call sites through chains of entries, and units that are not whole.
#include <gtest/gtest.h>

#include "source_lines_fixture.h"

namespace lumbre {
namespace {

class SourceLinesEntries : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("gcc") ||
        !folder_.run("gcc -nostdlib -static -Wl,--no-gc-sections -o program " LUMBRE_SOURCE_DIR
                     "/tests/unit/dwarf/source_lines_entries.s")) {
      GTEST_SKIP() << "gcc cannot assemble the entries: " << folder_.errors();
    }
    file_ = open_elf(folder_.path() + "/program");
    ASSERT_NE(file_, nullptr);
  }
  std::vector<SourceFrame> find(std::uint64_t offset) {
    return SourceLines(file_).find(ImageAddress{file_->entry().value + offset});
  }
  BuildFolder folder_;
  std::shared_ptr<const ElfFile> file_;
};

TEST_F(SourceLinesEntries, LeaveAFunctionUnnamedWhoseOriginsLeadInACircle) {
  for (const std::uint64_t offset : {0x0, 0x10}) {
    const auto frames = find(offset);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].function, "");
  }
}

TEST_F(SourceLinesEntries, LeaveAFunctionUnnamedWhoseOriginIsOutside) {
  const auto frames = find(0x30);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "");
}

TEST_F(SourceLinesEntries, QualifyANameWithItsNamespacesAndClasses) {
  const auto frames = find(0x20);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "outer::(anonymous namespace)::Box::get");
  EXPECT_FALSE(frames[0].is_linkage_name);
  EXPECT_EQ(frames[0].start_line, 33u);
}

TEST_F(SourceLinesEntries, GiveTheCallerTheLineOfTheCall) {
  const auto frames = find(0x25);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].function, "free_function");
  EXPECT_EQ(frames[0].start_line, 44u);
  EXPECT_EQ(frames[1].function, "outer::(anonymous namespace)::Box::get");
  EXPECT_EQ(frames[1].line, 55u);
}

TEST_F(SourceLinesEntries, GiveNothingOutsideTheUnits) {
  EXPECT_TRUE(find(0x40).empty());
  EXPECT_TRUE(SourceLines(file_).find(ImageAddress{0}).empty());
  EXPECT_TRUE(SourceLines(file_).find(ImageAddress{~std::uint64_t{0}}).empty());
}

TEST(SourceLines, GivesNothingWhereTheUnitIsInAMissingDwoFile) {
  BuildFolder folder;
  if (!folder.run("printf 'static inline int f(int x) { return x * x; }\\n"
                  "int main(int n, char** v) { return f(n) + v[0][0]; }\\n' >a.c && "
                  "gcc -O2 -g -gsplit-dwarf -o program a.c && rm -f *.dwo")) {
    GTEST_SKIP() << "gcc does not build with -gsplit-dwarf: " << folder.errors();
  }
  const auto file = open_elf(folder.path() + "/program");
  ASSERT_NE(file, nullptr);
  const SourceLines lines(file);
  EXPECT_TRUE(lines.has_debug_info());
  for (const std::uint64_t address : text_addresses(*file, 100)) {
    EXPECT_TRUE(lines.find(ImageAddress{address}).empty());
  }
}

TEST(SourceLines, SaysThatAStrippedFileHasNoDebugInfo) {
  BuildFolder folder;
  if (!folder.run("echo 'int main(void) { return 0; }' >a.c && gcc -g -s -o program a.c")) {
    GTEST_SKIP() << "gcc does not build: " << folder.errors();
  }
  const SourceLines lines(open_elf(folder.path() + "/program"));
  EXPECT_FALSE(lines.has_debug_info());
  EXPECT_TRUE(lines.find(ImageAddress{0x1000}).empty());
}

}  // namespace
}  // namespace lumbre
