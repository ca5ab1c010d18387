#include "symbolizer/dwarf/cfi_program.h"

#include <gtest/gtest.h>

#include "tests/unit/dwarf/cfi_bytes.h"

namespace lumbre {
namespace {

using Kind = RegisterRule::Kind;

struct Run {
  std::vector<CfiRow> rows;
  bool is_complete = false;
};

// Runs the instructions in an FDE of the usual CIE at 0x1000, 0x100 bytes long.
class Program {
 public:
  explicit Program(CfiBytes::Bytes instructions, CfiBytes::Bytes cie_instructions = {}) {
    bytes_.entry(usual_cie(cie_instructions));
    fde_offset_ = bytes_.size();
    bytes_.entry(usual_fde(fde_offset_, 0x1000, 0x100, instructions));
    section_ = CfiSection(CfiSection::Kind::kEhFrame, bytes_.span(), {});
  }

  Run run() {
    Run result;
    const auto fde = section_.parse_fde(fde_offset_);
    if (!fde.has_value()) {
      ADD_FAILURE() << "no FDE";
      return result;
    }
    result.is_complete = for_each_row(section_, *fde, [&](const CfiRow& row) {
      result.rows.push_back(row);
      return true;
    });
    return result;
  }

 private:
  CfiBytes bytes_;
  std::size_t fde_offset_ = 0;
  CfiSection section_;
};

TEST(CfiProgram, WithoutInstructionsTheCieGivesOneRowForAll) {
  const auto run = Program({}).run();
  ASSERT_TRUE(run.is_complete);
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_EQ(run.rows[0].start.value, 0x1000u);
  EXPECT_EQ(run.rows[0].end.value, 0x1100u);
  EXPECT_EQ(run.rows[0].cfa_register, 7u);
  EXPECT_EQ(run.rows[0].cfa_offset, 8);
  EXPECT_EQ(run.rows[0].registers[LUMBRE_RIP].kind, Kind::kOffset);
  EXPECT_EQ(run.rows[0].registers[LUMBRE_RIP].offset, -8);
  EXPECT_EQ(run.rows[0].registers[LUMBRE_RBX].kind, Kind::kSame);
}

TEST(CfiProgram, EveryWidthOfAdvanceMovesTheRow) {
  const auto run =
      Program({0x41, 0x0e, 16, 0x02, 2, 0x0e, 24, 0x03, 3, 0, 0x0e, 32, 0x04, 4, 0, 0, 0, 0x0e, 40})
          .run();
  ASSERT_EQ(run.rows.size(), 5u);
  EXPECT_EQ(run.rows[1].start.value, 0x1001u);
  EXPECT_EQ(run.rows[2].start.value, 0x1003u);
  EXPECT_EQ(run.rows[3].start.value, 0x1006u);
  EXPECT_EQ(run.rows[4].start.value, 0x100au);
  EXPECT_EQ(run.rows[4].cfa_offset, 40);
  EXPECT_EQ(run.rows[4].end.value, 0x1100u);
}

TEST(CfiProgram, SetLocationJumpsForwardOnly) {
  EXPECT_EQ(Program({0x01, 0x50, 0x10, 0, 0, 0, 0, 0, 0, 0x0e, 16}).run().rows.at(1).start.value,
            0x1050u);
  EXPECT_FALSE(Program({0x01, 0x50, 0x0f, 0, 0, 0, 0, 0, 0}).run().is_complete);
}

TEST(CfiProgram, RowsBehindTheFunctionsEndAreCut) {
  const auto run = Program({0x03, 0xff, 0xff, 0x0e, 16}).run();
  ASSERT_EQ(run.rows.size(), 1u);
  EXPECT_EQ(run.rows[0].end.value, 0x1100u);
}

TEST(CfiProgram, RestoreStateBringsBackCfaAndRegisters) {
  // push rbp; remember; leave; more code behind a restore.
  const auto run =
      Program({0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x41, 0x0c, 7, 8, 0xc6, 0x41, 0x0b}).run();
  ASSERT_EQ(run.rows.size(), 4u);
  EXPECT_EQ(run.rows[2].cfa_offset, 8);
  EXPECT_EQ(run.rows[2].registers[LUMBRE_RBP].kind, Kind::kSame);
  EXPECT_EQ(run.rows[3].cfa_offset, 16);
  EXPECT_EQ(run.rows[3].registers[LUMBRE_RBP].offset, -16);
}

TEST(CfiProgram, RestoreGoesBackToTheCiesRule) {
  const auto run = Program({0x83, 5, 0x41, 0xc3, 0x41, 0x06, 3}, {0x83, 3}).run();
  ASSERT_EQ(run.rows.size(), 3u);
  EXPECT_EQ(run.rows[0].registers[LUMBRE_RBX].offset, -40);
  EXPECT_EQ(run.rows[1].registers[LUMBRE_RBX].offset, -24);
  EXPECT_EQ(run.rows[2].registers[LUMBRE_RBX].offset, -24);
}

TEST(CfiProgram, EveryKindOfRegisterRuleIsKept) {
  const auto run = Program({0x05, 3,  2,                 // offset_extended
                            0x11, 6,  0x7d,              // offset_extended_sf -3 * -8
                            0x2f, 12, 4,                 // GNU_negative_offset_extended
                            0x14, 13, 2,                 // val_offset
                            0x15, 14, 0x7f,              // val_offset_sf
                            0x09, 15, 3,                 // register
                            0x10, 1,  2,    0x77, 0x10,  // expression
                            0x16, 2,  1,    0x50,        // val_expression
                            0x07, 16, 0x08, 4})
                       .run();
  ASSERT_TRUE(run.is_complete);
  const auto& registers = run.rows.at(0).registers;
  EXPECT_EQ(registers[3].offset, -16);
  EXPECT_EQ(registers[6].offset, 24);
  EXPECT_EQ(registers[12].offset, 32);
  EXPECT_EQ(registers[13].kind, Kind::kValueOffset);
  EXPECT_EQ(registers[13].offset, -16);
  EXPECT_EQ(registers[14].offset, 8);
  EXPECT_EQ(registers[15].kind, Kind::kRegister);
  EXPECT_EQ(registers[15].offset, 3);
  EXPECT_EQ(registers[1].kind, Kind::kExpression);
  EXPECT_EQ(registers[1].expression.size(), 2u);
  EXPECT_EQ(registers[2].kind, Kind::kValueExpression);
  EXPECT_EQ(registers[16].kind, Kind::kUndefined);
  EXPECT_EQ(registers[4].kind, Kind::kSame);
}

TEST(CfiProgram, CfaFormsReplaceEachOther) {
  const auto run = Program({0x0f, 2, 0x76, 0x78, 0x41, 0x0c, 6, 16, 0x41, 0x12, 7, 0x7e, 0x41, 0x13,
                            0x7d, 0x41, 0x0d, 10})
                       .run();
  ASSERT_EQ(run.rows.size(), 5u);
  EXPECT_TRUE(run.rows[0].cfa_is_expression);
  EXPECT_FALSE(run.rows[1].cfa_is_expression);
  EXPECT_EQ(run.rows[2].cfa_offset, 16);
  EXPECT_EQ(run.rows[3].cfa_offset, 24);
  EXPECT_EQ(run.rows[4].cfa_register, 10u);
}

TEST(CfiProgram, RegistersThatNoWalkNeedsAreReadAndForgotten) {
  const auto run = Program({0x05, 40, 2, 0x2e, 0x20, 0x00, 0x0e, 16}).run();
  ASSERT_TRUE(run.is_complete);
  EXPECT_EQ(run.rows.at(0).cfa_offset, 16);
}

TEST(CfiProgram, UnknownInstructionKeepsTheRowsBeforeIt) {
  const auto run = Program({0x44, 0x0e, 16, 0x44, 0x3b, 0x44}).run();
  EXPECT_FALSE(run.is_complete);
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[1].end.value, 0x1008u);
}

TEST(CfiProgram, MalformedProgramsEnd) {
  EXPECT_FALSE(Program({0x0b}).run().is_complete);                    // nothing remembered
  EXPECT_FALSE(Program({0x0c, 0x80}).run().is_complete);              // cut off
  EXPECT_FALSE(Program({0x0f, 0x7f, 0}).run().is_complete);           // block too long
  EXPECT_FALSE(Program({0x0f, 1, 0x50, 0x0e, 8}).run().is_complete);  // offset of no register
}

TEST(CfiProgram, RememberedStatesAreBounded) {
  CfiBytes bytes;
  bytes.entry(usual_cie());
  const std::size_t offset = bytes.size();
  auto fde = usual_fde(offset, 0x1000, 0x100, {});
  for (std::size_t i = 0; i <= kMaxRememberedStates; ++i) {
    fde.raw({0x0a});
  }
  bytes.entry(fde);
  CfiSection section(CfiSection::Kind::kEhFrame, bytes.span(), {});
  EXPECT_FALSE(
      for_each_row(section, section.parse_fde(offset).value(), [](const CfiRow&) { return true; }));
}

}  // namespace
}  // namespace lumbre
