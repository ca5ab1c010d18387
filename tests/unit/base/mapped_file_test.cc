#include "symbolizer/base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace lumbre {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "lumbre-mapped-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(MappedFileTest, RefusesAFifoWithoutHanging) {
  const std::string path = folder_ + "/fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto file = MappedFile::open(path);
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().kind, ErrorKind::kUnsupported);
}

TEST_F(MappedFileTest, ReadsZerosWhereAFileShrankWhileMapped) {
  install_sigbus_guard();
  const std::string path = folder_ + "/shrinking";
  std::ofstream(path) << std::string(3 * 4096, 'x');
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.has_value());
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(file->bytes()[0], std::byte{'x'});
  EXPECT_EQ(file->bytes()[2 * 4096], std::byte{0});
}

TEST_F(MappedFileTest, MapsAnEmptyFileAsNoBytes) {
  const std::string path = folder_ + "/empty";
  std::ofstream(path).flush();
  const auto file = MappedFile::open(path);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(file->bytes().empty());
}

}  // namespace
}  // namespace lumbre
