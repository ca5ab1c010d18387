#include <gtest/gtest.h>

#include "userspace/kernel/perf_event.h"

namespace lumbre {
namespace {

TEST(CpuList, ReadsSinglesAndRanges) {
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8\n"), (std::vector<int>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_cpu_list("3"), (std::vector<int>{3}));
}

TEST(CpuList, IsEmptyForTextThatIsNone) { EXPECT_TRUE(parse_cpu_list("none").empty()); }

}  // namespace
}  // namespace lumbre
