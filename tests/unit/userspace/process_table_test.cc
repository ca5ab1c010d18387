#include "userspace/process/process_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace lumbre {
namespace {

// Mappings of no file, so that nothing is opened.
SidebandEvent anonymous(std::uint32_t pid, std::uint64_t start, std::uint64_t size) {
  return {0, MappingAdded{pid, {start}, size, {0}, 0, 0, 0, "//anon"}};
}

class ProcessTableTest : public ::testing::Test {
 protected:
  void SetUp() override { table_.follow_all(true); }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges(std::uint32_t pid) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const auto& [start, mapping] : table_.find(pid)->mappings) {
      found.emplace_back(mapping.start.value, mapping.end.value);
    }
    return found;
  }
  using Ranges = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  ModuleCache modules_;
  ProcessTable table_{modules_};
};

constexpr std::uint32_t kPid = 4000001;  // above pid_max: no such process

TEST_F(ProcessTableTest, ANewMappingCutsAHoleIntoAnOlderOne) {
  table_.apply(anonymous(kPid, 0x1000, 0x9000));
  table_.apply(anonymous(kPid, 0x4000, 0x1000));
  EXPECT_EQ(ranges(kPid), (Ranges{{0x1000, 0x4000}, {0x4000, 0x5000}, {0x5000, 0xa000}}));
}

TEST_F(ProcessTableTest, ANewMappingReplacesTheOnesItCovers) {
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  table_.apply(anonymous(kPid, 0x3000, 0x1000));
  table_.apply(anonymous(kPid, 0x5000, 0x2000));
  table_.apply(anonymous(kPid, 0x1000, 0x5000));
  EXPECT_EQ(ranges(kPid), (Ranges{{0x1000, 0x6000}, {0x6000, 0x7000}}));
}

TEST_F(ProcessTableTest, TheSameMappingTwiceIsOne) {
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  EXPECT_EQ(ranges(kPid), (Ranges{{0x2000, 0x3000}}));
}

TEST_F(ProcessTableTest, AForkedChildStartsWithItsParentsMappings) {
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  table_.apply({0, ProcessForked{kPid + 1, kPid}});
  EXPECT_EQ(ranges(kPid + 1), (Ranges{{0x2000, 0x3000}}));
}

TEST_F(ProcessTableTest, ExecForgetsTheOldImage) {
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  table_.apply({0, ProcessExecuted{kPid}});
  EXPECT_TRUE(ranges(kPid).empty());
}

TEST_F(ProcessTableTest, LooksUpByAddressWithOpenEnd) {
  table_.apply(anonymous(kPid, 0x2000, 0x1000));
  const Process* process = table_.find(kPid);
  EXPECT_EQ(process->find({0x1fff}), nullptr);
  EXPECT_NE(process->find({0x2000}), nullptr);
  EXPECT_NE(process->find({0x2fff}), nullptr);
  EXPECT_EQ(process->find({0x3000}), nullptr);
}

TEST_F(ProcessTableTest, LocatesOurOwnCodeInOurOwnFile) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  ASSERT_TRUE(table_.load(pid));
  const auto here = reinterpret_cast<std::uint64_t>(&parse_cpu_list);
  const ProcessMapping* mapping = table_.find(pid)->find({here});
  ASSERT_NE(mapping, nullptr);
  const auto place = table_.locate(*mapping, {here});
  ASSERT_TRUE(place.has_value());
  const auto symbol = place->module->symbols()->find(place->address);
  ASSERT_TRUE(symbol.has_value());
  EXPECT_NE(symbol->name.find("parse_cpu_list"), std::string_view::npos);
}

TEST_F(ProcessTableTest, FindsTheVdso) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  ASSERT_TRUE(table_.load(pid));
  EXPECT_NE(modules_.vdso().elf, nullptr);
}

TEST(ProcessTree, HoldsOurselvesUnderOurParent) {
  const auto tree = find_process_tree({static_cast<std::uint32_t>(::getppid())});
  EXPECT_NE(std::find(tree.begin(), tree.end(), static_cast<std::uint32_t>(::getpid())),
            tree.end());
}

}  // namespace
}  // namespace lumbre
