#include "symbolizer/kallsyms.h"

#include <gtest/gtest.h>

namespace lumbre {
namespace {

constexpr const char* kText =
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 t local_alias\n"
    "ffffffff81000100 T do_work\n"
    "ffffffff81000100 W weak_work_with_a_long_name\n"
    "ffffffff81000200 t helper\n"
    "ffffffff81000300 T _etext\n"
    "ffffffff81000400 D some_data\n"
    "ffffffff81000500 T init_only\n"
    "ffffffffc0a02000 t second\t[ext4]\n"
    "ffffffffc0a01000 t first\t[ext4]\n"
    "ffffffffc0b00000 t bpf_prog_1234_x\t[bpf]\n"
    "not a line\n";

std::string describe(const KernelSymbols& symbols, std::uint64_t address) {
  const auto found = symbols.find(address);
  return found.has_value() ? std::string(found->name) + "/" + std::string(found->module) : "";
}

TEST(KernelSymbols, NamesKernelAndModules) {
  const auto symbols = KernelSymbols::parse(kText);
  ASSERT_TRUE(symbols.has_value());
  EXPECT_EQ(describe(*symbols, 0xffffffff81000180), "do_work/");
  EXPECT_EQ(describe(*symbols, 0xffffffff810002ff), "helper/");
  EXPECT_EQ(describe(*symbols, 0xffffffffc0a01fff), "first/ext4");
  EXPECT_EQ(describe(*symbols, 0xffffffffc0a02010), "second/ext4");
  EXPECT_EQ(describe(*symbols, 0xffffffffc0b00020), "bpf_prog_1234_x/bpf");
}

TEST(KernelSymbols, PrefersGlobalNames) {
  const auto symbols = KernelSymbols::parse(kText);
  EXPECT_EQ(describe(*symbols, 0xffffffff81000000), "_stext/");
  EXPECT_EQ(describe(*symbols, 0xffffffff81000100), "do_work/");
}

TEST(KernelSymbols, NamesNothingOutsideTheText) {
  const auto symbols = KernelSymbols::parse(kText);
  EXPECT_EQ(describe(*symbols, 0), "");
  EXPECT_EQ(describe(*symbols, 0xffffffff80ffffff), "");
  EXPECT_EQ(describe(*symbols, 0xffffffff81000300), "") << "_etext";
  EXPECT_EQ(describe(*symbols, 0xffffffff81000510), "") << "freed after boot";
  EXPECT_EQ(describe(*symbols, 0xffffffffc0a04000), "") << "behind the module";
  EXPECT_EQ(describe(*symbols, 0xffffffffffffffff), "");
}

TEST(KernelSymbols, SayWhenAddressesAreHidden) {
  const auto symbols = KernelSymbols::parse("0000000000000000 T _stext\n0000000000000000 t f\n");
  ASSERT_FALSE(symbols.has_value());
  EXPECT_EQ(symbols.error().kind, ErrorKind::kPermission);
}

TEST(KernelSymbols, SayWhenThereAreNone) {
  EXPECT_EQ(KernelSymbols::parse("").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(KernelSymbols::parse("ffffffff81000400 D data\n").error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(KernelSymbols::load("/no/such/file").error().kind, ErrorKind::kNotFound);
}

TEST(KernelSymbols, SurviveBrokenLines) {
  for (const char* text :
       {"f", "ffffffff81000000", "ffffffff81000000 T", "ffffffff81000000 T ",
        "ffffffff81000000 T \n", "fffffffffffffffff T x", "ffffffff81000000 T x\t[",
        "ffffffff81000000 T x\t[]", "ffffffff81000000 T x\t]["}) {
    const auto symbols = KernelSymbols::parse(text);
    if (symbols.has_value()) {
      symbols->find(0xffffffff81000000);
    }
  }
}

TEST(KernelSymbols, LoadThoseOfThisMachine) {
  const auto symbols = KernelSymbols::load();
  if (!symbols.has_value()) {
    GTEST_SKIP() << symbols.error().message;
  }
  EXPECT_GT(symbols->size(), 10'000U);
}

}  // namespace
}  // namespace lumbre
