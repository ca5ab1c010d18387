#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "output/formats.h"
#include "tests/unit/output/formats_sample.h"

namespace lumbre::output {
namespace {

std::string speedscope(const Profile& profile, std::uint32_t sample_type) {
  std::ostringstream out;
  EXPECT_TRUE(write_speedscope(profile, sample_type, "cpu of \"trainer\"", out));
  return out.str();
}

// LUMBRE_BLESS=1 writes the golden file anew.
TEST(Speedscope, OneSampledProfilePerThreadWithSharedFrames) {
  const std::string golden =
      std::string(LUMBRE_SOURCE_DIR) + "/tests/unit/output/golden/formats.speedscope.json";
  const std::string json = speedscope(make_sample_profile(), 1);
  if (std::getenv("LUMBRE_BLESS") != nullptr) std::ofstream(golden) << json;
  std::ostringstream expected;
  expected << std::ifstream(golden).rdbuf();
  EXPECT_EQ(json, expected.str());
}

TEST(Speedscope, CountsHaveNoUnit) {
  EXPECT_NE(speedscope(make_sample_profile(), 0).find(R"("unit":"none")"), std::string::npos);
}

TEST(Speedscope, NamesAreEscaped) {
  const std::string json = speedscope(make_stack_profile({std::string("a\"\\\n\0\xFF", 6)}), 0);
  EXPECT_NE(json.find(R"("name":"a\"\\\u000a\u0000)"
                      "\xEF\xBF\xBD\""),
            std::string::npos)
      << json;
}

TEST(Speedscope, AnEmptyRecordingHasOneEmptyProfile) {
  Profile profile = make_sample_profile();
  profile.samples.clear();
  EXPECT_NE(speedscope(profile, 1)
                .find(R"("name":"all","unit":"nanoseconds","startValue":0,"endValue":0,)"),
            std::string::npos);
}

}  // namespace
}  // namespace lumbre::output
