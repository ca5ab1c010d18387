#include "userspace/cli/profile_file.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

TEST(OutputName, WithoutADotInItsLastPartIsAFolder) {
  EXPECT_TRUE(is_folder_name("run"));
  EXPECT_TRUE(is_folder_name("a.b/run"));
  EXPECT_FALSE(is_folder_name("run.svg"));
  EXPECT_FALSE(is_folder_name("-"));
}

TEST(OutputName, EndingSaysTheFormat) {
  EXPECT_EQ(format_of("x/cpu.pb.gz"), FileFormat::kPprof);
  EXPECT_EQ(format_of("cpu.svg"), FileFormat::kSvg);
  EXPECT_EQ(format_of("cpu.folded"), FileFormat::kFolded);
  EXPECT_EQ(format_of("cpu.speedscope.json"), FileFormat::kSpeedscope);
  EXPECT_EQ(format_of("cpu.html"), FileFormat::kHtml);
  EXPECT_FALSE(format_of("cpu.json").has_value());
  EXPECT_FALSE(format_of("a.svg/cpu").has_value());
}

}  // namespace
}  // namespace lumbre
