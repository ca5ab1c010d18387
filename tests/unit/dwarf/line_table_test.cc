#include "symbolizer/dwarf/line_table.h"

#include <gtest/gtest.h>

#include "line_bytes.h"

namespace lumbre::dwarf {
namespace {

// Line at an address; -1 where there is none.
int line_at(const LineTable& table, std::uint64_t address) {
  const auto row = table.find(address);
  return row.has_value() ? static_cast<int>(row->line) : -1;
}

TEST(LineTable, TakesTheRowBeforeAnAddress) {
  LineOps program;
  program.set_address(0x1000).advance_line(9).row().advance_pc(4).advance_line(1).row();
  program.advance_pc(4).end_sequence();
  // The bytes must outlive the table.
  const Bytes section = line_section({}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0xfff), -1);
  EXPECT_EQ(line_at(table, 0x1000), 10);
  EXPECT_EQ(line_at(table, 0x1003), 10);
  EXPECT_EQ(line_at(table, 0x1004), 11);
  EXPECT_EQ(line_at(table, 0x1007), 11);
  EXPECT_EQ(line_at(table, 0x1008), -1);
}

TEST(LineTable, TakesTheLastOfSeveralRowsAtOneAddress) {
  LineOps program;
  program.set_address(0x1000).row().advance_line(1).row().advance_line(1).row();
  program.advance_pc(2).end_sequence();
  const Bytes section = line_section({}, old_tables(), program);
  EXPECT_EQ(line_at(table_of(section), 0x1001), 3);
}

TEST(LineTable, GivesNoLineInTheGapBetweenSequences) {
  LineOps program;
  program.set_address(0x2000).advance_line(4).row().advance_pc(0x10).end_sequence();
  program.set_address(0x1000).advance_line(6).row().advance_pc(0x10).end_sequence();
  const Bytes section = line_section({}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0x100f), 7);
  EXPECT_EQ(line_at(table, 0x1010), -1);
  EXPECT_EQ(line_at(table, 0x2000), 5);
}

TEST(LineTable, LeavesOutSequencesOfDroppedFunctions) {
  LineOps program;
  program.set_address(0).row().advance_pc(0x8000).end_sequence();
  program.set_address(0x1000).advance_line(6).row().advance_pc(0x10).end_sequence();
  const Bytes section = line_section({}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0x1001), 7);
  EXPECT_EQ(line_at(table, 0x1020), -1);
}

TEST(LineTable, LeavesOutRowsThatNoEndFollows) {
  LineOps program;
  program.set_address(0x1000).row().advance_pc(4).row();
  const Bytes section = line_section({}, old_tables(), program);
  EXPECT_EQ(line_at(table_of(section), 0x1000), -1);
}

TEST(LineTable, FindsEveryRowOfALongSequence) {
  LineOps program;
  program.set_address(0x1000);
  for (int i = 0; i < 1000; ++i) {
    program.advance_line(1).row().advance_pc(3);
  }
  program.end_sequence();
  const Bytes section = line_section({}, old_tables(), program);
  const LineTable table = table_of(section);
  for (std::uint64_t address = 0x1000; address < 0x1000 + 3000; ++address) {
    ASSERT_EQ(line_at(table, address), static_cast<int>((address - 0x1000) / 3) + 2);
  }
}

TEST(LineProgram, MultipliesAdvancesByTheMinimumInstructionLength) {
  LineOps program;
  program.set_address(0x1000).row().advance_pc(3).advance_line(1).row();
  program.advance_pc(1).end_sequence();
  const Bytes section = line_section({.min_instruction_length = 4}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0x100b), 1);
  EXPECT_EQ(line_at(table, 0x100c), 2);
  EXPECT_EQ(line_at(table, 0x1010), -1);
}

TEST(LineProgram, CountsOperationsWithinABundle) {
  LineOps program;  // four operations to an instruction of 16 bytes
  program.set_address(0x1000).row().advance_pc(3).advance_line(1).row();
  program.advance_pc(1).advance_line(1).row().advance_pc(4).end_sequence();
  const Bytes section =
      line_section({.min_instruction_length = 16, .max_operations = 4}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0x1000), 2);  // operation 3 is in the first instruction
  EXPECT_EQ(line_at(table, 0x1010), 3);
  EXPECT_EQ(line_at(table, 0x1020), -1);
}

TEST(LineProgram, SkipsUnknownOpcodesByTheirOperandCounts) {
  LineOps program;
  program.set_address(0x1000);
  program.u8(13).uleb(300).uleb(400);  // not known: opcode_base is 14
  program.u8(0).uleb(3).u8(0x90).u16(0x0101);
  program.advance_line(5).row().advance_pc(4).end_sequence();
  const Bytes section = line_section({.opcode_base = 14}, old_tables(), program);
  EXPECT_EQ(line_at(table_of(section), 0x1000), 6);
}

TEST(LineProgram, RunsSpecialOpcodesOfAShortOpcodeBase) {
  LineOps program;
  program.set_address(0x1000);
  program.u8(10 + 14 * 2 + 5 + 3);  // opcode_base 10: two bytes on, three lines on
  program.advance_pc(4).end_sequence();
  const Bytes section = line_section({.version = 2, .opcode_base = 10}, old_tables(), program);
  const LineTable table = table_of(section);
  EXPECT_EQ(line_at(table, 0x1001), -1);
  EXPECT_EQ(line_at(table, 0x1002), 4);
}

}  // namespace
}  // namespace lumbre::dwarf
