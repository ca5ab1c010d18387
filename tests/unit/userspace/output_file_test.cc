#include "userspace/cli/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lumbre {
namespace {

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "lumbre-output-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ + "/out.folded";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) {
      ++count;
    }
    return count;
  }
  std::string folder_, path_;
};

TEST_F(OutputFileTest, IsPrivateAndWhole) {
  ASSERT_TRUE(write_output_file(path_, [](std::ostream& out) {
                return static_cast<bool>(out << "hello");
              }).has_value());
  struct stat status = {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(content(path_), "hello");
}

TEST_F(OutputFileTest, KeepsTheEarlierFileWhenWritingFails) {
  std::ofstream(path_) << "earlier";
  const auto written = write_output_file(path_, [](std::ostream& out) {
    out << "half";
    return false;
  });
  EXPECT_FALSE(written.has_value());
  EXPECT_EQ(content(path_), "earlier");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, ReplacesASymbolicLinkInsteadOfWritingThroughIt) {
  const std::string victim = folder_ + "/victim";
  std::ofstream(victim) << "precious";
  ASSERT_EQ(::symlink(victim.c_str(), path_.c_str()), 0);
  ASSERT_TRUE(write_output_file(path_, [](std::ostream& out) {
                return static_cast<bool>(out << "new");
              }).has_value());
  EXPECT_EQ(content(victim), "precious");
  EXPECT_EQ(content(path_), "new");
}

TEST_F(OutputFileTest, SaysWhyAFolderCannotBeWritten) {
  const auto written =
      write_output_file(folder_ + "/no/such/out.folded", [](std::ostream&) { return true; });
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace lumbre
