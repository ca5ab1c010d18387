#include "symbolizer/jit/target_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace lumbre {
namespace {

// A folder that stands for the target's root.
class TargetFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/lumbre-target-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
    ::mkdir((root_ + "/tmp").c_str(), 0700);
    target_.pid = static_cast<std::uint32_t>(::getpid());
    target_.user = target_.effective_user = ::geteuid();
    target_.root.reset(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override {
    const std::string command = "rm -rf " + root_;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  void write(const std::string& path, const std::string& text) {
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
  TargetIdentity target_;
};

TEST_F(TargetFileTest, ReadsAFileInsideTheTargetsRoot) {
  write("/tmp/perf-7.map", "10 20 f\n");
  const auto file = TargetFile::open(target_, "tmp/perf-7.map");
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->size_bytes(), 8U);
  std::string text(100, '\0');
  EXPECT_EQ(file->read_at(3, std::as_writable_bytes(std::span(text))), 5U);
  EXPECT_EQ(text.substr(0, 5), "20 f\n");
}

TEST_F(TargetFileTest, RefusesASymbolicLink) {
  write("/tmp/secret", "10 20 f\n");
  ASSERT_EQ(::symlink("secret", (root_ + "/tmp/perf-7.map").c_str()), 0);
  EXPECT_FALSE(TargetFile::open(target_, "tmp/perf-7.map").has_value());
}

TEST_F(TargetFileTest, NeverLeavesTheRootThroughAFolder) {
  const std::string outside = root_ + "-outside";
  ASSERT_EQ(::mkdir(outside.c_str(), 0700), 0);
  std::ofstream(outside + "/perf-7.map") << "10 20 f\n";
  ASSERT_EQ(::rmdir((root_ + "/tmp").c_str()), 0);
  ASSERT_EQ(::symlink(outside.c_str(), (root_ + "/tmp").c_str()), 0);
  EXPECT_FALSE(TargetFile::open(target_, "tmp/perf-7.map").has_value());
  const std::string command = "rm -rf " + outside;
  ASSERT_EQ(std::system(command.c_str()), 0);
}

TEST_F(TargetFileTest, RefusesWhatIsNoRegularFileAndDoesNotHangOnIt) {
  ASSERT_EQ(::mkfifo((root_ + "/tmp/perf-7.map").c_str(), 0600), 0);
  EXPECT_FALSE(TargetFile::open(target_, "tmp/perf-7.map").has_value());
}

TEST_F(TargetFileTest, RefusesAFileOfAnotherUser) {
  write("/tmp/perf-7.map", "10 20 f\n");
  if (::chown((root_ + "/tmp/perf-7.map").c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "giving a file away needs root";
  }
  EXPECT_FALSE(TargetFile::open(target_, "tmp/perf-7.map").has_value());
  target_.user = 12345;
  EXPECT_TRUE(TargetFile::open(target_, "tmp/perf-7.map").has_value());
}

TEST(TargetIdentity, KnowsThisProcess) {
  const auto identity = read_target_identity(static_cast<std::uint32_t>(::getpid()));
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->effective_user, ::geteuid());
  EXPECT_NE(identity->inner_pid, 0U);
  EXPECT_GT(identity->start_boot_ns, 0U);
}

}  // namespace
}  // namespace lumbre
