// The functions without unwind data of this very program (functions.S).
#include "symbolizer/code/synthesised_rules.h"

#include <gtest/gtest.h>

#include "symbolizer/base/mapped_file.h"
#include "symbolizer/code/function_bounds.h"

extern "C" const char code_realigned[], code_realigned_body[], code_with_inner[], code_inner[];

namespace lumbre {
namespace {

class SynthesisedRulesTest : public ::testing::Test {
 protected:
  ImageAddress image_address(const char* function, const char* name, const char* place) const {
    const auto symbol = find_symbol_by_name(*elf_, name);
    return {symbol->address.value + static_cast<std::uint64_t>(place - function)};
  }
  ImageAddress body() const {
    return image_address(code_realigned, "code_realigned", code_realigned_body);
  }
  ImageAddress inner() const {
    return image_address(code_with_inner, "code_with_inner", code_inner);
  }

  std::shared_ptr<ElfFile> elf_ =
      ElfFile::parse(MappedFile::open("/proc/self/exe").value()).value();
  CfiTable cfi_{elf_};
  std::shared_ptr<const SymbolIndex> symbols_ = SymbolIndex::build(elf_);
  SynthesisedRules rules_{elf_, cfi_};
};

TEST_F(SynthesisedRulesTest, AFunctionWithASymbolIsProven) {
  ASSERT_FALSE(cfi_.find_rule(body()).has_value());
  const auto found = rules_.find(body(), symbols_.get());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->certainty, RuleCertainty::kProven);
  EXPECT_EQ(found->rule.cfa_kind, LUMBRE_CFA_DEREF);
}

TEST_F(SynthesisedRulesTest, WithoutSymbolsTheGapIsSplitAndItsRulesAreGuesses) {
  const auto found = rules_.find(body(), nullptr);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->certainty, RuleCertainty::kGuess);
}

TEST_F(SynthesisedRulesTest, WithoutSymbolsACalledFunctionIsProven) {
  const auto found = rules_.find(inner(), nullptr);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->certainty, RuleCertainty::kProven);
}

TEST_F(SynthesisedRulesTest, WithoutSymbolsAFunctionBeginsBehindTheOneBefore) {
  FunctionBoundsFinder finder(*elf_, cfi_);
  const auto bounds = finder.find(nullptr, body());
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(bounds->start, image_address(code_realigned, "code_realigned", code_realigned));
  EXPECT_FALSE(bounds->is_start_proven);
}

TEST_F(SynthesisedRulesTest, AFunctionIsAnalysedOnce) {
  rules_.find(body(), symbols_.get());
  rules_.find({body().value + 1}, symbols_.get());
  EXPECT_EQ(rules_.function_count(), 1u);
}

TEST_F(SynthesisedRulesTest, OnlyConfirmedFunctionsHaveRowsForTheKernel) {
  const ImageAddress start{0}, end{~std::uint64_t{0}};
  rules_.find(body(), symbols_.get());
  rules_.find(inner(), symbols_.get());
  EXPECT_EQ(rules_.count_confirmed(start, end), 0u);
  EXPECT_TRUE(rules_.confirmed_rows(start, end).empty());
  rules_.confirm(body());
  EXPECT_EQ(rules_.count_confirmed(start, end), 1u);
  const auto rows = rules_.confirmed_rows(start, end);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().start, image_address(code_realigned, "code_realigned", code_realigned));
}

TEST_F(SynthesisedRulesTest, RowsAreCutToTheRange) {
  rules_.find(body(), symbols_.get());
  rules_.confirm(body());
  const auto rows = rules_.confirmed_rows(body(), {body().value + 1});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].start, body());
  EXPECT_EQ(rows[0].end.value, body().value + 1);
}

TEST_F(SynthesisedRulesTest, DataIsNoFunction) {
  const auto* section = elf_->find_section(".rodata");
  ASSERT_NE(section, nullptr);
  EXPECT_FALSE(rules_.find(section->address, symbols_.get()).has_value());
}

}  // namespace
}  // namespace lumbre
