// What `go tool pprof` makes of our files, and what we make of the Go runtime's.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "output/formats.h"
#include "tests/unit/output/formats_go_tool.h"
#include "tests/unit/output/formats_sample.h"

namespace lumbre::output {
namespace {

std::string read_file(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

class GoPprof : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    pprof_ = find_pprof(reason);
    if (pprof_.empty()) GTEST_SKIP() << reason;
  }

  std::string pprof(const Profile& profile, const std::string& options) {
    const std::string path = write_test_file("profile.pb.gz", pprof_bytes(profile));
    int status = 0;
    std::string output = run_shell("TZ=UTC PPROF_TMPDIR=/tmp '" + pprof_ + "' -symbolize=none " +
                                       options + " '" + path + "' 2>/dev/null",
                                   status);
    EXPECT_EQ(status, 0) << options;
    unlink(path.c_str());
    return output;
  }

  std::string pprof_;
};

// LUMBRE_BLESS=1 writes the golden file anew.
TEST_F(GoPprof, RawShowsWhatTheModelHolds) {
  const std::string golden =
      std::string(LUMBRE_SOURCE_DIR) + "/tests/unit/output/golden/formats_pprof_raw.txt";
  const std::string raw = pprof(make_sample_profile(), "-raw");
  if (raw.find("_start :0:0") == std::string::npos) {
    GTEST_SKIP() << "this pprof is older than columns, and numbers the tables anew (Go 1.19 does)";
  }
  if (std::getenv("LUMBRE_BLESS") != nullptr) std::ofstream(golden) << raw;
  EXPECT_EQ(raw, read_file(golden));
}

TEST_F(GoPprof, TopTakesTheLastSampleTypeAsTheDefault) {
  const std::string top = pprof(make_sample_profile(), "-top");
  EXPECT_NE(top.find("Type: cpu"), std::string::npos) << top;
  EXPECT_NE(top.find("Duration: 10s, Total samples = 60.61ms"), std::string::npos) << top;
  EXPECT_NE(top.find("30.30ms 50.00% 50.00%    30.30ms 50.00%  copy_user_generic"),
            std::string::npos)
      << top;
  EXPECT_NE(top.find("40.40ms 66.67%  Trainer.step"), std::string::npos) << top;
}

TEST_F(GoPprof, InlinedFramesAreExpandedWithTheirLines) {
  const std::string lines = pprof(make_sample_profile(), "-lines -traces -sample_index=samples");
  const std::size_t inner = lines.find("dot dot.h:7");
  const std::size_t outer = lines.find("at::matmul matmul.cpp:120");
  ASSERT_NE(inner, std::string::npos) << lines;
  EXPECT_LT(inner, outer);
}

TEST_F(GoPprof, TagsShowEveryLabelZerosIncluded) {
  const std::string tags = pprof(make_sample_profile(), "-tags -sample_index=samples");
  for (const char* expected :
       {"4250", "python3", "MainThread", "worker", "rank: Total 4", "pid: Total 6"}) {
    EXPECT_NE(tags.find(expected), std::string::npos) << expected << " in:\n" << tags;
  }
}

TEST_F(GoPprof, CommentsAreShown) {
  EXPECT_EQ(pprof(make_sample_profile(), "-comments"), "lost: 3 (ring buffer full)\n");
}

TEST_F(GoPprof, HostileNamesAndAnEmptyRecordingAreValid) {
  const Profile hostile =
      make_stack_profile({"a;b \"q\" \\", std::string("nul\0x", 5), "bad\xFF\xC3", "\n"});
  EXPECT_NE(pprof(hostile, "-raw").find("a;b"), std::string::npos);
  Profile empty = make_sample_profile();
  empty.samples.clear();
  EXPECT_NE(pprof(empty, "-raw").find("samples/count cpu/nanoseconds"), std::string::npos);
}

// Made by the Go runtime itself; kept in the cache, because building takes a while.
TEST(ForeignPprof, AProfileOfTheGoRuntimeIsRead) {
  const std::string path = test_cache() + "/go-runtime-cpu.pb.gz";
  if (access(path.c_str(), R_OK) != 0) {
    const std::string source = write_test_file("burn.go", R"(package main
import ("os"; "runtime/pprof"; "time")
func burn(until time.Time) (n int) { for time.Now().Before(until) { n++ }; return }
func main() { f, _ := os.Create(os.Args[1]); pprof.StartCPUProfile(f)
  burn(time.Now().Add(500 * time.Millisecond)); pprof.StopCPUProfile(); f.Close() }
)");
    int status = 0;
    const std::string cache = test_cache();
    run_shell("export PATH=$PATH:/usr/local/go/bin CGO_ENABLED=0 GOCACHE='" + cache +
                  "/go-build' GOPATH='" + cache + "/go'; mkdir -p '" + cache + "' && go run '" +
                  source + "' '" + path + ".part' 2>&1 && mv '" + path + ".part' '" + path + "'",
              status);
    unlink(source.c_str());
    if (status != 0) GTEST_SKIP() << "no go program can be built here";
  }
  std::string error;
  const std::optional<Profile> profile = read_pprof(read_file(path), &error);
  ASSERT_TRUE(profile.has_value()) << error;
  EXPECT_EQ(profile->text(profile->sample_types.back().type), "cpu");
  EXPECT_GT(profile->samples.size(), 0u);
  EXPECT_NE(folded_text(*profile, 0).find("main.burn"), std::string::npos);
  for (const Location& location : profile->locations) {
    EXPECT_TRUE(location.kind == FrameKind::kNative || location.kind == FrameKind::kKernel);
  }
}

}  // namespace
}  // namespace lumbre::output
