#include "symbolizer/elf/debug_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "test_binaries.h"

namespace lumbre {
namespace {

namespace fs = std::filesystem;

class DebugFileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("g++") || !has_tool("objcopy")) {
      GTEST_SKIP() << "needs g++ and binutils";
    }
    root_ = folder_.file("root");
    fs::create_directories(root_ + "/opt/app");
  }
  // A stripped program at /opt/app/program of the root, linked to program.debug beside it.
  void make_program(const std::string& flags) {
    const std::string built = build_program(folder_, "program", "-g " + flags);
    ASSERT_FALSE(built.empty());
    debug_ = folder_.file("program.debug");
    path_ = root_ + "/opt/app/program";
    bool is_made = false;
    output_of("cd " + folder_.path() +
                  " && objcopy --only-keep-debug program program.debug"
                  " && objcopy -S --add-gnu-debuglink=program.debug program " +
                  path_,
              &is_made);
    ASSERT_TRUE(is_made);
    file_ = open_elf(path_);
  }
  void put_debug_file(const std::string& place) {
    fs::create_directories(fs::path(root_ + place).parent_path());
    fs::copy_file(debug_, root_ + place, fs::copy_options::overwrite_existing);
  }
  std::string build_id_place() const {
    const auto& id = file_->build_id();
    return "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  }
  bool is_found(const std::string& path) const {
    const auto found = find_debug_file(*file_, path, {root_});
    if (!found.has_value()) {
      EXPECT_EQ(found.error().kind, ErrorKind::kNotFound);
    }
    return found.has_value() && !(*found)->section_data(".debug_info").empty();
  }

  TemporaryFolder folder_;
  std::string root_, path_, debug_;
  std::shared_ptr<ElfFile> file_;
};

TEST_F(DebugFileTest, IsNotFoundWhenNowhere) {
  make_program("-Wl,--build-id");
  EXPECT_FALSE(is_found("/opt/app/program"));
}

TEST_F(DebugFileTest, IsFoundByBuildId) {
  make_program("-Wl,--build-id");
  put_debug_file(build_id_place());
  EXPECT_TRUE(is_found("/somewhere/else"));
}

TEST_F(DebugFileTest, IsFoundByLinkInEachPlace) {
  make_program("-Wl,--build-id=none");
  for (const std::string place : {"/opt/app/program.debug", "/opt/app/.debug/program.debug",
                                  "/usr/lib/debug/opt/app/program.debug"}) {
    put_debug_file(place);
    EXPECT_TRUE(is_found("/opt/app/program")) << place;
    EXPECT_TRUE(is_found(path_)) << "the path may hold the root: " << place;
    fs::remove(root_ + place);
    EXPECT_FALSE(is_found("/opt/app/program"));
  }
}

TEST_F(DebugFileTest, IsRefusedWithAnotherBuildId) {
  make_program("-Wl,--build-id=0x11111111");
  const std::string place = build_id_place();
  make_program("-Wl,--build-id=0x22222222");
  put_debug_file(place);
  put_debug_file("/opt/app/program.debug");
  make_program("-Wl,--build-id=0x11111111");
  EXPECT_FALSE(is_found("/opt/app/program"));
}

TEST_F(DebugFileTest, IsRefusedWithAnotherChecksum) {
  make_program("-Wl,--build-id=none");
  write_file(debug_, read_file(debug_) + "x");
  put_debug_file("/opt/app/program.debug");
  EXPECT_FALSE(is_found("/opt/app/program"));
}

TEST_F(DebugFileTest, IsNotTheFileItself) {
  make_program("-Wl,--build-id");
  fs::create_directories(fs::path(root_ + build_id_place()).parent_path());
  fs::create_hard_link(path_, root_ + build_id_place());
  EXPECT_FALSE(is_found("/opt/app/program"));
}

TEST_F(DebugFileTest, DoesNotHangOnAFifo) {
  make_program("-Wl,--build-id");
  fs::create_directories(fs::path(root_ + build_id_place()).parent_path());
  ASSERT_EQ(::mkfifo((root_ + build_id_place()).c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((root_ + "/opt/app/program.debug").c_str(), 0600), 0);
  EXPECT_FALSE(is_found("/opt/app/program"));
}

TEST_F(DebugFileTest, DoesNotFollowALinkWithFolders) {
  make_program("-Wl,--build-id=none");
  const std::string outside = folder_.file("outside.debug");
  fs::copy_file(debug_, outside);
  bool is_made = false;
  output_of("cd " + folder_.path() + " && objcopy -R .gnu_debuglink root/opt/app/program p2" +
                " && printf '../../../outside.debug\\0\\0\\0\\0\\0\\0' > link" +
                " && objcopy --add-section .gnu_debuglink=link p2 root/opt/app/program",
            &is_made);
  ASSERT_TRUE(is_made);
  file_ = open_elf(path_);
  EXPECT_FALSE(is_found("/opt/app/program"));
}

}  // namespace
}  // namespace lumbre
