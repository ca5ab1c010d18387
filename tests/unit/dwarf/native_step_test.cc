// The step by compact rules (bpf/core/native_step.h), as user space compiles it.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>

#include "symbolizer/dwarf/cfi_step.h"
#include "tests/unit/dwarf/cfi_bytes.h"

namespace lumbre {
namespace {

class Words : public StackReader {
 public:
  Words(std::initializer_list<std::pair<const std::uint64_t, std::uint64_t>> words)
      : words_(words) {}
  bool read_word(std::uint64_t address, std::uint64_t& value) override {
    const auto found = words_.find(address);
    if (found == words_.end()) {
      return false;
    }
    value = found->second;
    return true;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> words_;
};

lumbre_registers all_registers() {
  lumbre_registers registers{};
  for (unsigned i = 0; i < LUMBRE_REGISTER_COUNT; ++i) {
    registers.value[i] = 0x100 + i;
  }
  registers.valid = (1u << LUMBRE_REGISTER_COUNT) - 1;
  registers.value[LUMBRE_RSP] = 0x7000;
  registers.value[LUMBRE_RIP] = 0x401000;
  return registers;
}

lumbre_unwind_rule plain_rule(int cfa_offset) {
  lumbre_unwind_rule rule{};
  rule.cfa_kind = LUMBRE_CFA_REGISTER;
  rule.cfa_register = LUMBRE_RSP;
  rule.cfa_offset = cfa_offset;
  rule.return_address = -1;
  return rule;
}

bool is_valid(const lumbre_registers& registers, unsigned number) {
  return (registers.valid >> number & 1) != 0;
}

TEST(NativeStep, PlainFrameGivesTheCaller) {
  auto registers = all_registers();
  auto rule = plain_rule(32);
  rule.saved[LUMBRE_SAVED_RBP] = -2;
  rule.saved[LUMBRE_SAVED_R12] = LUMBRE_SLOT_UNDEFINED;
  Words stack{{0x7018, 0x402000}, {0x7010, 0xbb}};
  ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
  EXPECT_EQ(registers.value[LUMBRE_RSP], 0x7020u);
  EXPECT_EQ(registers.value[LUMBRE_RIP], 0x402000u);
  EXPECT_EQ(registers.value[LUMBRE_RBP], 0xbbu);
  EXPECT_EQ(registers.value[LUMBRE_RBX], 0x103u);
  EXPECT_TRUE(is_valid(registers, LUMBRE_RBX));
  EXPECT_FALSE(is_valid(registers, LUMBRE_R12));
  for (const unsigned clobbered : {LUMBRE_RAX, LUMBRE_RDI, LUMBRE_R10, LUMBRE_R11}) {
    EXPECT_FALSE(is_valid(registers, clobbered));
  }
}

TEST(NativeStep, RealignedFrameReadsItsCfa) {
  auto registers = all_registers();
  registers.value[LUMBRE_RBP] = 0x7100;
  lumbre_unwind_rule rule{};
  rule.cfa_kind = LUMBRE_CFA_DEREF;
  rule.cfa_register = LUMBRE_RBP;
  rule.cfa_offset = -8;
  rule.return_address = -1;
  rule.flags = LUMBRE_RULE_SAVED_BY_RBP | LUMBRE_RULE_SAVED_BY_CFA << LUMBRE_SAVED_R13 |
               LUMBRE_RULE_SAVED_BY_CFA << LUMBRE_SAVED_R14;
  rule.saved[LUMBRE_SAVED_RBX] = -3;
  rule.saved[LUMBRE_SAVED_R13] = -2;
  Words stack{{0x70f8, 0x7200}, {0x71f8, 0x402000}, {0x7100, 0xbb}, {0x70e8, 3}, {0x71f0, 13}};
  ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
  EXPECT_EQ(registers.value[LUMBRE_RSP], 0x7200u);
  EXPECT_EQ(registers.value[LUMBRE_RBP], 0xbbu);
  EXPECT_EQ(registers.value[LUMBRE_RBX], 3u);
  EXPECT_EQ(registers.value[LUMBRE_R13], 13u);
  EXPECT_EQ(registers.value[LUMBRE_R14], 0x10eu);
}

TEST(NativeStep, PltEntryCountsItsPush) {
  for (const unsigned offset : {10u, 11u}) {
    auto registers = all_registers();
    registers.value[LUMBRE_RIP] = 0x401020 + offset;
    auto rule = plain_rule(8);
    rule.cfa_kind = LUMBRE_CFA_PLT;
    rule.cfa_add = 11;
    Words stack{{0x7000, 0x402000}, {0x7008, 0x402008}};
    ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
    EXPECT_EQ(registers.value[LUMBRE_RIP], offset < 11 ? 0x402000u : 0x402008u);
  }
}

TEST(NativeStep, ReturnAddressInRegisterNeedsNoStack) {
  auto registers = all_registers();
  auto rule = plain_rule(0);
  rule.flags = LUMBRE_RULE_RA_IN_REGISTER;
  rule.return_address = LUMBRE_RDI;
  Words stack{};
  ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
  EXPECT_EQ(registers.value[LUMBRE_RIP], 0x105u);
  EXPECT_EQ(registers.value[LUMBRE_RSP], 0x7000u);
  EXPECT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_UNKNOWN_REGISTER);
}

TEST(NativeStep, SignalFrameGivesEveryRegister) {
  auto registers = all_registers();
  registers.valid = 1u << LUMBRE_RSP | 1u << LUMBRE_RIP;
  lumbre_unwind_rule rule{};
  rule.cfa_kind = LUMBRE_CFA_SIGNAL;
  Words stack{{0x7028, 8},  {0x7030, 9},  {0x7038, 10}, {0x7040, 11}, {0x7048, 12}, {0x7050, 13},
              {0x7058, 14}, {0x7060, 15}, {0x7068, 5},  {0x7070, 4},  {0x7078, 6},  {0x7080, 3},
              {0x7088, 1},  {0x7090, 0},  {0x7098, 2},  {0x70a0, 7},  {0x70a8, 16}};
  ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
  for (unsigned i = 0; i < LUMBRE_REGISTER_COUNT; ++i) {
    EXPECT_TRUE(is_valid(registers, i));
    EXPECT_EQ(registers.value[i], i);
  }
}

TEST(NativeStep, UndefinedOrZeroReturnAddressIsTheRoot) {
  auto registers = all_registers();
  auto rule = plain_rule(8);
  Words stack{{0x7000, 0}};
  EXPECT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_ROOT);
  rule.return_address = LUMBRE_SLOT_UNDEFINED;
  Words nothing{};
  EXPECT_EQ(step_by_rule(rule, registers, nothing), LUMBRE_STEP_ROOT);
}

TEST(NativeStep, LostSavedRegisterDoesNotEndTheWalk) {
  auto registers = all_registers();
  auto rule = plain_rule(32);
  rule.saved[LUMBRE_SAVED_RBX] = -4;
  Words stack{{0x7018, 0x402000}};
  ASSERT_EQ(step_by_rule(rule, registers, stack), LUMBRE_STEP_OK);
  EXPECT_FALSE(is_valid(registers, LUMBRE_RBX));
}

TEST(NativeStep, EveryFailureHasItsName) {
  Words nothing{};
  auto registers = all_registers();
  EXPECT_EQ(step_by_rule(plain_rule(8), registers, nothing), LUMBRE_STEP_READ_FAULT);
  EXPECT_EQ(step_by_rule({}, registers, nothing), LUMBRE_STEP_NO_RULE);
  lumbre_unwind_rule full{};
  full.cfa_kind = LUMBRE_CFA_FULL;
  EXPECT_EQ(step_by_rule(full, registers, nothing), LUMBRE_STEP_NEEDS_FULL);
  auto rule = plain_rule(8);
  rule.cfa_register = 200;
  EXPECT_EQ(step_by_rule(rule, registers, nothing), LUMBRE_STEP_UNKNOWN_REGISTER);
  registers.valid &= ~(1u << LUMBRE_RBP);
  rule.cfa_register = LUMBRE_RBP;
  EXPECT_EQ(step_by_rule(rule, registers, nothing), LUMBRE_STEP_UNKNOWN_REGISTER);
}

TEST(NativeStep, FrameThatDoesNotGrowIsRefused) {
  auto registers = all_registers();
  Words stack{{0x6ff8, 0x402000}, {0x6ff0, 0x402000}};
  EXPECT_EQ(step_by_rule(plain_rule(0), registers, stack), LUMBRE_STEP_NOT_PROGRESSING);
  EXPECT_EQ(step_by_rule(plain_rule(-8), registers, stack), LUMBRE_STEP_NOT_PROGRESSING);
}

TEST(StepByRow, EveryKindOfRuleIsApplied) {
  using Kind = RegisterRule::Kind;
  const auto deref_rsp = CfiBytes().raw({0x77, 0x10, 0x06});  // rsp + 16, read
  const auto cfa_minus_16 = CfiBytes().raw({0x40, 0x1c});     // lit16, minus
  CfiRow row;
  row.cfa_is_expression = true;
  row.cfa_expression = deref_rsp.span();
  row.registers[LUMBRE_RIP] = {Kind::kOffset, -8, {}};
  row.registers[LUMBRE_RBX] = {Kind::kValueOffset, -24, {}};
  row.registers[LUMBRE_RBP] = {Kind::kExpression, 0, cfa_minus_16.span()};
  row.registers[LUMBRE_R12] = {Kind::kValueExpression, 0, cfa_minus_16.span()};
  row.registers[LUMBRE_R13] = {Kind::kRegister, LUMBRE_RAX, {}};
  row.registers[LUMBRE_R14] = {Kind::kUndefined, 0, {}};
  auto registers = all_registers();
  Words stack{{0x7010, 0x7100}, {0x70f8, 0x402000}, {0x70f0, 6}};
  ASSERT_EQ(step_by_row(row, registers, stack, 0), LUMBRE_STEP_OK);
  EXPECT_EQ(registers.value[LUMBRE_RSP], 0x7100u);
  EXPECT_EQ(registers.value[LUMBRE_RIP], 0x402000u);
  EXPECT_EQ(registers.value[LUMBRE_RBX], 0x70e8u);
  EXPECT_EQ(registers.value[LUMBRE_RBP], 6u);
  EXPECT_EQ(registers.value[LUMBRE_R12], 0x70f0u);
  EXPECT_EQ(registers.value[LUMBRE_R13], 0x100u);
  EXPECT_FALSE(is_valid(registers, LUMBRE_R14));
  EXPECT_EQ(registers.value[LUMBRE_R15], 0x10fu);
  EXPECT_FALSE(is_valid(registers, LUMBRE_RAX));
}

}  // namespace
}  // namespace lumbre
