#include "userspace/kernel/perf_event.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

TEST(CpuList, ReadsSinglesAndRanges) {
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8\n"), (std::vector<int>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_cpu_list("3"), (std::vector<int>{3}));
}

TEST(CpuList, IsEmptyForTextThatIsNone) { EXPECT_TRUE(parse_cpu_list("none").empty()); }

TEST(MachineTimes, AddUpWhatTheCpusDidBesidesIdling) {
  const std::string text =
      "cpu  300 20 30 4000 50 6 7 0 0 0\n"
      "cpu0 100 10 10 2000 25 3 4 7 0 0\n"
      "cpu1 200 10 20 2000 25 3 3 0 0 0\n"
      "intr 12345\n";
  EXPECT_EQ(machine_times(text, 100).busy_ns, 3'630'000'000u);
  EXPECT_EQ(machine_times(text, 100).stolen_ns, 70'000'000u);
}

TEST(MachineTimes, AreZeroForTextThatIsNone) {
  EXPECT_EQ(machine_times("none", 100).busy_ns, 0u);
  EXPECT_EQ(machine_times("none", 100).stolen_ns, 0u);
}

}  // namespace
}  // namespace lumbre
