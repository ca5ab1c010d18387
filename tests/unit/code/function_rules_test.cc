// Rules for functions written by hand (functions.S), at the places that are hard.
#include "symbolizer/code/function_rules.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#define LUMBRE_TEST_FUNCTION(name) extern "C" const char name[], name##_end[];
LUMBRE_TEST_FUNCTION(code_realigned)
LUMBRE_TEST_FUNCTION(code_disagreeing)
LUMBRE_TEST_FUNCTION(code_with_frame_pointer)
LUMBRE_TEST_FUNCTION(code_aborting)
LUMBRE_TEST_FUNCTION(code_with_unknown_jump)
LUMBRE_TEST_FUNCTION(code_probing)
LUMBRE_TEST_FUNCTION(code_unbalanced)
LUMBRE_TEST_FUNCTION(code_overwriting)
LUMBRE_TEST_FUNCTION(code_with_inner)
LUMBRE_TEST_FUNCTION(code_with_table)
#undef LUMBRE_TEST_FUNCTION
extern "C" const char code_realigned_body[], code_realigned_restored[], code_realigned_return[],
    code_disagreeing_join[], code_with_frame_pointer_join[], code_with_frame_pointer_return[],
    code_aborting_after[], code_behind_unknown_jump[], code_probed[], code_unbalanced_body[],
    code_overwritten[], code_inner[], code_case_0[], code_case_1[];

namespace lumbre {
namespace {

std::uint64_t address_of(const char* place) { return reinterpret_cast<std::uint64_t>(place); }

FunctionCode code_between(const char* start, const char* end) {
  FunctionCode code;
  code.bytes = std::as_bytes(std::span(start, end));
  code.address = address_of(start);
  code.read_bytes = [](std::uint64_t address, std::span<std::byte> bytes) {
    std::memcpy(bytes.data(), reinterpret_cast<const void*>(address), bytes.size());
    return true;
  };
  return code;
}

SynthesisedRule rule_at(const char* start, const char* end, const char* place) {
  return analyse_function(code_between(start, end))
      .find(address_of(place))
      .value_or(SynthesisedRule{});
}

void expect_proven_height(const SynthesisedRule& found, int height) {
  EXPECT_EQ(found.certainty, RuleCertainty::kProven);
  EXPECT_EQ(found.rule.cfa_kind, LUMBRE_CFA_REGISTER);
  EXPECT_EQ(found.rule.cfa_register, LUMBRE_RSP);
  EXPECT_EQ(found.rule.cfa_offset, height);
  EXPECT_EQ(found.rule.return_address, -1);
}

TEST(FunctionRules, AReturnAddressIsOnTopAtTheEntry) {
  expect_proven_height(rule_at(code_realigned, code_realigned_end, code_realigned), 8);
}

TEST(FunctionRules, ARealignedFrameIsFoundThroughTheStackPointerThatItKeeps) {
  const auto found = rule_at(code_realigned, code_realigned_end, code_realigned_body);
  EXPECT_EQ(found.certainty, RuleCertainty::kProven);
  EXPECT_EQ(found.rule.cfa_kind, LUMBRE_CFA_DEREF);
  EXPECT_EQ(found.rule.cfa_register, LUMBRE_RSP);
  EXPECT_EQ(found.rule.cfa_offset, 0x78);
  EXPECT_EQ(found.rule.cfa_add, 0x48);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_RBX], -9);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_RBP], -8);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_R12], LUMBRE_SLOT_SAME);  // saved, and not yet used
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_R13], LUMBRE_SLOT_SAME);
}

TEST(FunctionRules, WhatARealignedFrameReadsBackIsKnownAgain) {
  const auto found = rule_at(code_realigned, code_realigned_end, code_realigned_restored);
  EXPECT_EQ(found.rule.cfa_kind, LUMBRE_CFA_REGISTER);
  EXPECT_EQ(found.rule.cfa_register, LUMBRE_RBP);
  const auto at_return = rule_at(code_realigned, code_realigned_end, code_realigned_return);
  expect_proven_height(at_return, 8);
  EXPECT_EQ(at_return.rule.saved[LUMBRE_SAVED_R12], LUMBRE_SLOT_SAME);
}

TEST(FunctionRules, PathsThatDisagreeProveNothing) {
  const auto found = rule_at(code_disagreeing, code_disagreeing_end, code_disagreeing_join);
  EXPECT_EQ(found.certainty, RuleCertainty::kGuess);
}

TEST(FunctionRules, PathsThatDisagreeAboutTheStackPointerMayAgreeAboutTheFrame) {
  const auto found =
      rule_at(code_with_frame_pointer, code_with_frame_pointer_end, code_with_frame_pointer_join);
  EXPECT_EQ(found.certainty, RuleCertainty::kProven);
  EXPECT_EQ(found.rule.cfa_register, LUMBRE_RBP);
  EXPECT_EQ(found.rule.cfa_offset, 16);
  expect_proven_height(
      rule_at(code_with_frame_pointer, code_with_frame_pointer_end, code_with_frame_pointer_return),
      8);
}

TEST(FunctionRules, ACallThatNeverReturnsLeadsNowhere) {
  expect_proven_height(rule_at(code_aborting, code_aborting_end, code_aborting_after), 8);
}

TEST(FunctionRules, CodeBehindAnUnknownJumpGetsTheFrameAtTheJumpAsAGuess) {
  const auto found =
      rule_at(code_with_unknown_jump, code_with_unknown_jump_end, code_behind_unknown_jump);
  EXPECT_EQ(found.certainty, RuleCertainty::kGuess);
  EXPECT_EQ(found.rule.cfa_offset, 24);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_RBX], -2);
}

TEST(FunctionRules, ALoopThatProbesTheStackEndsWhereItsConditionSays) {
  expect_proven_height(rule_at(code_probing, code_probing_end, code_probed), 0x4008);
}

TEST(FunctionRules, AReturnWithTheStackNotAsAtTheEntryPutsAllInDoubt) {
  const auto found = rule_at(code_unbalanced, code_unbalanced_end, code_unbalanced_body);
  EXPECT_EQ(found.certainty, RuleCertainty::kGuess);
}

TEST(FunctionRules, ASavedRegisterWhoseSlotIsOverwrittenIsLost) {
  const auto found = rule_at(code_overwriting, code_overwriting_end, code_overwritten);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_RBX], LUMBRE_SLOT_UNDEFINED);
}

TEST(FunctionRules, WhatTheFunctionCallsInsideItselfIsAFunction) {
  const auto found = rule_at(code_with_inner, code_with_inner_end, code_inner);
  expect_proven_height(found, 16);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_R15], -2);
  EXPECT_EQ(found.rule.saved[LUMBRE_SAVED_RBP], LUMBRE_SLOT_SAME);
}

TEST(FunctionRules, AJumpTablesCasesAreReached) {
  expect_proven_height(rule_at(code_with_table, code_with_table_end, code_case_0), 32);
  expect_proven_height(rule_at(code_with_table, code_with_table_end, code_case_1), 64);
}

TEST(FunctionRules, WithoutTheTableItsCasesAreGuesses) {
  FunctionCode code = code_between(code_with_table, code_with_table_end);
  code.read_bytes = nullptr;
  const auto found = analyse_function(code).find(address_of(code_case_1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->certainty, RuleCertainty::kGuess);
}

TEST(FunctionRules, AGuessedEntryProvesNothing) {
  FunctionCode code = code_between(code_with_inner, code_with_inner_end);
  code.is_entry_proven = false;
  const FunctionRules rules = analyse_function(code);
  ASSERT_FALSE(rules.rows().empty());
  for (const SynthesisedRow& row : rules.rows()) {
    EXPECT_EQ(row.rule.certainty, RuleCertainty::kGuess);
  }
}

TEST(FunctionRules, RowsAreInOrderAndInsideTheFunction) {
  const FunctionRules rules = analyse_function(code_between(code_realigned, code_realigned_end));
  std::uint64_t end = address_of(code_realigned);
  for (const SynthesisedRow& row : rules.rows()) {
    EXPECT_GE(row.start, end);
    EXPECT_LT(row.start, row.end);
    end = row.end;
  }
  EXPECT_LE(end, address_of(code_realigned_end));
  EXPECT_FALSE(rules.find(address_of(code_realigned_end)).has_value());
}

TEST(FunctionRules, NoBytesGiveNoRules) {
  EXPECT_TRUE(analyse_function(FunctionCode{}).rows().empty());
}

TEST(FunctionRules, RandomBytesEndInTime) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(4096);
  for (int round = 0; round < 50; ++round) {
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random());
    }
    FunctionCode code;
    code.bytes = bytes;
    code.address = 0x1000;
    code.read_bytes = [&](std::uint64_t, std::span<std::byte> out) {
      std::memcpy(out.data(), bytes.data() + random() % 4000, out.size());
      return true;
    };
    for (const SynthesisedRow& row : analyse_function(code).rows()) {
      ASSERT_LT(row.start, row.end);
      ASSERT_LE(row.end, code.address + bytes.size());
    }
  }
}

TEST(FunctionRules, CodeThatJumpsFromEverywhereToEverywhereEndsInTime) {
  // je to the next but one, push, over and over: each block can be reached at many heights.
  std::vector<std::byte> bytes;
  for (int i = 0; i < 100'000; ++i) {
    for (const int byte : {0x74, 0x01, 0x50 + i % 8}) {
      bytes.push_back(static_cast<std::byte>(byte));
    }
  }
  FunctionCode code;
  code.bytes = bytes;
  analyse_function(code);
}

}  // namespace
}  // namespace lumbre
