#include "userspace/kernel/perf_event.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

TEST(CpuList, ReadsSinglesAndRanges) {
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8\n"), (std::vector<int>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_cpu_list("3"), (std::vector<int>{3}));
}

TEST(CpuList, IsEmptyForTextThatIsNone) { EXPECT_TRUE(parse_cpu_list("none").empty()); }

TEST(BusyTime, AddsUpWhatTheCpusDidBesidesIdling) {
  const std::string text =
      "cpu  300 20 30 4000 50 6 7 0 0 0\n"
      "cpu0 100 10 10 2000 25 3 4 0 0 0\n"
      "cpu1 200 10 20 2000 25 3 3 0 0 0\n"
      "intr 12345\n";
  EXPECT_EQ(busy_time_ns(text, 100), 3'630'000'000u);
}

TEST(BusyTime, IsZeroForTextThatIsNone) { EXPECT_EQ(busy_time_ns("none", 100), 0u); }

}  // namespace
}  // namespace lumbre
