// Which ranges the kernel is given for a process, and that none is reused while it may be read.
#include "userspace/unwind/process_ranges.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/userspace/memory_table_store.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kSpace = 0x123003;  // exec id 3

class ProcessRangesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(table_.load(pid_));
    process_ = table_.find(pid_);
  }
  std::uint32_t first_range(std::uint32_t pid) { return store_.processes.at(pid).first_range; }

  const std::uint32_t pid_ = static_cast<std::uint32_t>(::getpid());
  ModuleCache modules_;
  ProcessTable table_{modules_};
  MemoryTableStore store_;
  ProcessRanges ranges_{store_, table_};
  Process* process_ = nullptr;
};

TEST_F(ProcessRangesTest, AreSortedDisjointAndHoldThisCode) {
  ranges_.publish(*process_, kSpace, 100, 0);
  const lumbre_native_process& published = store_.processes.at(pid_);
  EXPECT_EQ(published.exec_pages, 100u);
  EXPECT_EQ(published.exec_id, 3u);
  const auto all = store_.ranges().subspan(published.first_range, published.range_count);
  const auto code = reinterpret_cast<std::uint64_t>(&::getpid);
  bool is_found = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_LT(all[i].start, all[i].end);
    EXPECT_TRUE(i == 0 || all[i - 1].end <= all[i].start);
    is_found |= code >= all[i].start && code < all[i].end;
  }
  EXPECT_TRUE(is_found);
}

TEST_F(ProcessRangesTest, AreSetAnewOnlyWhenTheExecutableMemoryChanged) {
  ranges_.publish(*process_, kSpace, 100, 0);
  const std::uint32_t epoch = store_.processes.at(pid_).epoch;
  ranges_.publish(*process_, kSpace, 100, kSecond);
  EXPECT_EQ(store_.processes.at(pid_).epoch, epoch);
  ranges_.publish(*process_, kSpace, 101, kSecond);
  EXPECT_NE(store_.processes.at(pid_).epoch, epoch);
}

TEST_F(ProcessRangesTest, AnotherImageGetsItsOwn) {
  ranges_.publish(*process_, kSpace, 100, 0);
  const std::uint32_t epoch = store_.processes.at(pid_).epoch;
  ranges_.publish(*process_, kSpace + 1, 100, 0);
  EXPECT_NE(store_.processes.at(pid_).epoch, epoch);
}

TEST_F(ProcessRangesTest, AChildSharesItsParentsAndKeepsThemAlive) {
  ranges_.publish(*process_, kSpace, 100, 0);
  ranges_.inherit(pid_, pid_ + 1);
  const std::uint32_t shared = first_range(pid_ + 1);
  EXPECT_EQ(shared, first_range(pid_));
  ranges_.forget(pid_);
  ranges_.publish(*process_, kSpace, 100, 10 * kSecond);
  EXPECT_NE(first_range(pid_), shared);
}

TEST_F(ProcessRangesTest, RoomIsUsedAgainAfterAGraceOnly) {
  ranges_.publish(*process_, kSpace, 100, kSecond);
  const std::uint32_t first = first_range(pid_);
  ranges_.publish(*process_, kSpace, 101, kSecond);  // gives the first room up
  ranges_.publish(*process_, kSpace, 102, kSecond + 1);
  EXPECT_NE(first_range(pid_), first);
  ranges_.publish(*process_, kSpace, 103, 9 * kSecond);
  EXPECT_EQ(first_range(pid_), first);
}

TEST_F(ProcessRangesTest, WithoutRoomAProcessHasNoneAndThatIsCounted) {
  store_.is_full = true;
  ranges_.publish(*process_, kSpace, 100, 0);
  EXPECT_TRUE(store_.processes.empty());
  EXPECT_EQ(ranges_.refused_count(), 1u);
}

}  // namespace
}  // namespace lumbre
