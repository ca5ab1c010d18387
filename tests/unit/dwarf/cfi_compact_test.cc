#include <dlfcn.h>
#include <gtest/gtest.h>

#include "symbolizer/dwarf/cfi.h"
#include "tests/unit/dwarf/cfi_bytes.h"
#include "tests/unit/dwarf/cfi_test_support.h"

namespace lumbre {
namespace {

using Kind = RegisterRule::Kind;

const CfiBytes kRbpMinus8Deref = CfiBytes().raw({0x76, 0x78, 0x06});
const CfiBytes kAtRbp = CfiBytes().raw({0x76, 0x00});
const CfiBytes kRbpMinus24 = CfiBytes().raw({0x76, 0x68});

CfiRow usual_row() {
  CfiRow row;
  row.cfa_register = LUMBRE_RSP;
  row.cfa_offset = 32;
  row.registers[LUMBRE_RIP] = {Kind::kOffset, -8, {}};
  return row;
}

CfiRow realigned_row() {
  CfiRow row = usual_row();
  row.cfa_is_expression = true;
  row.cfa_expression = kRbpMinus8Deref.span();
  row.registers[LUMBRE_RBP] = {Kind::kExpression, 0, kAtRbp.span()};
  row.registers[LUMBRE_RBX] = {Kind::kExpression, 0, kRbpMinus24.span()};
  return row;
}

TEST(CompactRule, PlainFrame) {
  CfiRow row = usual_row();
  row.registers[LUMBRE_RBP] = {Kind::kOffset, -16, {}};
  row.registers[LUMBRE_R15] = {Kind::kUndefined, 0, {}};
  const auto rule = compact_rule(row);
  EXPECT_EQ(rule.cfa_kind, LUMBRE_CFA_REGISTER);
  EXPECT_EQ(rule.cfa_register, LUMBRE_RSP);
  EXPECT_EQ(rule.cfa_offset, 32);
  EXPECT_EQ(rule.return_address, -1);
  EXPECT_EQ(rule.flags, 0);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_RBP], -2);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_RBX], LUMBRE_SLOT_SAME);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_R15], LUMBRE_SLOT_UNDEFINED);
}

TEST(CompactRule, RealignedFrameCountsFromRbp) {
  const auto rule = compact_rule(realigned_row());
  EXPECT_EQ(rule.cfa_kind, LUMBRE_CFA_DEREF);
  EXPECT_EQ(rule.cfa_register, LUMBRE_RBP);
  EXPECT_EQ(rule.cfa_offset, -8);
  EXPECT_EQ(rule.cfa_add, 0);
  EXPECT_TRUE(rule.flags & LUMBRE_RULE_SAVED_BY_RBP);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_RBP], 0);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_RBX], -3);
}

TEST(CompactRule, RealignedFrameMayHaveOneRegisterAtTheCfa) {
  CfiRow row = realigned_row();
  row.registers[LUMBRE_R13] = {Kind::kOffset, -16, {}};
  const auto rule = compact_rule(row);
  EXPECT_EQ(rule.cfa_kind, LUMBRE_CFA_DEREF);
  EXPECT_EQ(rule.saved[LUMBRE_SAVED_R13], -2);
  EXPECT_TRUE(rule.flags & LUMBRE_RULE_SAVED_BY_CFA << LUMBRE_SAVED_R13);
  EXPECT_FALSE(rule.flags & LUMBRE_RULE_SAVED_BY_CFA << LUMBRE_SAVED_RBX);
}

TEST(CompactRule, DerefWithAddition) {
  const auto expression = CfiBytes().raw({0x77, 0x28, 0x06, 0x23, 0x10});
  CfiRow row = usual_row();
  row.cfa_is_expression = true;
  row.cfa_expression = expression.span();
  const auto rule = compact_rule(row);
  EXPECT_EQ(rule.cfa_kind, LUMBRE_CFA_DEREF);
  EXPECT_EQ(rule.cfa_register, LUMBRE_RSP);
  EXPECT_EQ(rule.cfa_offset, 40);
  EXPECT_EQ(rule.cfa_add, 16);
}

TEST(CompactRule, PltOfBothLinkers) {
  for (const int threshold : {10, 11}) {
    const auto expression =
        CfiBytes().raw({0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30 + threshold, 0x2a, 0x33, 0x24, 0x22});
    CfiRow row = usual_row();
    row.cfa_is_expression = true;
    row.cfa_expression = expression.span();
    const auto rule = compact_rule(row);
    EXPECT_EQ(rule.cfa_kind, LUMBRE_CFA_PLT);
    EXPECT_EQ(rule.cfa_offset, 8);
    EXPECT_EQ(rule.cfa_add, threshold);
  }
}

TEST(CompactRule, UndefinedReturnAddressIsTheRoot) {
  CfiRow row = usual_row();
  row.registers[LUMBRE_RIP] = {Kind::kUndefined, 0, {}};
  EXPECT_EQ(compact_rule(row).return_address, LUMBRE_SLOT_UNDEFINED);
}

TEST(CompactRule, NoRuleForTheReturnAddressIsNoRule) {
  CfiRow row = usual_row();
  row.registers[LUMBRE_RIP] = {};
  EXPECT_EQ(compact_rule(row).cfa_kind, LUMBRE_CFA_NONE);
}

TEST(CompactRule, WhatDoesNotFitNeedsTheWholeRow) {
  const auto expect_full = [](auto change) {
    CfiRow row = usual_row();
    change(row);
    EXPECT_EQ(compact_rule(row).cfa_kind, LUMBRE_CFA_FULL);
  };
  const auto sum = CfiBytes().raw({0x77, 8, 0x76, 0, 0x22});
  expect_full([&](CfiRow& row) {
    row.cfa_is_expression = true;
    row.cfa_expression = sum.span();
  });
  expect_full([](CfiRow& row) { row.registers[LUMBRE_RBX] = {Kind::kOffset, -12, {}}; });
  expect_full([](CfiRow& row) { row.registers[LUMBRE_RBX] = {Kind::kOffset, -4096, {}}; });
  expect_full([](CfiRow& row) { row.registers[LUMBRE_RBX] = {Kind::kOffset, 0, {}}; });
  expect_full([](CfiRow& row) { row.registers[LUMBRE_RBX] = {Kind::kRegister, 1, {}}; });
  expect_full([](CfiRow& row) { row.registers[LUMBRE_RSP] = {Kind::kOffset, -16, {}}; });
  expect_full([](CfiRow& row) { row.cfa_register = 17; });
  expect_full([](CfiRow& row) { row.cfa_offset = std::int64_t{1} << 40; });
  expect_full([](CfiRow& row) { row.is_signal_frame = true; });
}

// libc's vfork has its return address in a register while the child runs on the same stack.
TEST(CompactRule, LibcVforkReturnsThroughARegister) {
  void* libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);  // a sanitizer has its own vfork
  ASSERT_NE(libc, nullptr);
  const void* function = dlsym(libc, "vfork");
  Dl_info info{};
  ASSERT_NE(dladdr(function, &info), 0);
  const CfiTable table(parse_image(read_file(path_of_module("/libc.so"))));
  const auto offset =
      reinterpret_cast<std::uint64_t>(function) - reinterpret_cast<std::uint64_t>(info.dli_fbase);
  bool is_found = false;
  for (const auto& row : table.rows_of_function(ImageAddress{offset})) {
    is_found = is_found || (row.rule.cfa_kind == LUMBRE_CFA_REGISTER &&
                            (row.rule.flags & LUMBRE_RULE_RA_IN_REGISTER) != 0);
  }
  EXPECT_TRUE(is_found);
  dlclose(libc);
}

}  // namespace
}  // namespace lumbre
