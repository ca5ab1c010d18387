// The parts below SourceLines, on bytes made by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "line_bytes.h"
#include "symbolizer/dwarf/abbreviations.h"
#include "symbolizer/dwarf/interval_map.h"
#include "symbolizer/dwarf/ranges.h"

namespace lumbre::dwarf {
namespace {

TEST(IntervalMap, FindsTheInnermostOfNestedIntervals) {
  const IntervalMap map({{10, 100, 0}, {20, 30, 1}, {20, 25, 2}, {40, 50, 3}});
  EXPECT_EQ(map.find(9), IntervalMap::kNone);
  EXPECT_EQ(map.find(10), 0u);
  EXPECT_EQ(map.find(22), 2u);
  EXPECT_EQ(map.find(27), 1u);
  EXPECT_EQ(map.find(35), 0u);
  EXPECT_EQ(map.find(49), 3u);
  EXPECT_EQ(map.find(99), 0u);
  EXPECT_EQ(map.find(100), IntervalMap::kNone);
}

TEST(IntervalMap, AgreesWithASearchOfAllIntervalsThatNest) {
  std::minstd_rand engine(1);
  const auto random = [&engine] { return static_cast<std::uint32_t>(engine()); };
  std::vector<Interval> intervals = {{0, 1000, 0}};
  for (std::uint32_t i = 1; i < 300; ++i) {  // each inside one before it
    const Interval around = intervals[random() % intervals.size()];
    const std::uint32_t start = around.start + random() % (around.end - around.start);
    intervals.push_back({start, start + 1 + random() % (around.end - start), i});
    const bool crosses =
        std::any_of(intervals.begin(), intervals.end() - 1, [&](const Interval& o) {
          const Interval& own = intervals.back();
          const bool meets = own.start < o.end && o.start < own.end;
          return meets && !(own.start >= o.start && own.end <= o.end);
        });
    if (crosses) {
      intervals.pop_back();
    }
  }
  const IntervalMap map(intervals);
  for (std::uint32_t offset = 0; offset < 1000; ++offset) {
    std::uint32_t expected = IntervalMap::kNone;
    for (const Interval& interval : intervals) {
      expected = offset >= interval.start && offset < interval.end ? interval.value : expected;
    }
    ASSERT_EQ(map.find(offset), expected) << offset;
  }
}

TEST(Forms, ReadAndSkipTakeTheSameBytes) {
  Bytes bytes;
  bytes.uleb(3);  // also the length of a block
  for (int i = 0; i < 40; ++i) {
    bytes.u8(i == 20 ? 0 : 5);
  }
  for (const UnitFormat format : {UnitFormat{2, 8, 4}, UnitFormat{5, 8, 8}, UnitFormat{5, 4, 4}}) {
    for (unsigned code = 1; code < 0x2000; ++code) {
      const auto number = static_cast<std::uint16_t>(code);
      ByteReader read(bytes.view()), skipped(bytes.view());
      read_form(read, number, format, 0);
      skip_form(skipped, number, format);
      ASSERT_EQ(read.offset(), skipped.offset()) << "form " << code;
      ASSERT_EQ(read.is_failed(), skipped.is_failed()) << "form " << code;
    }
  }
}

TEST(AbbreviationTable, FindsCodesThatAreNotInOrder) {
  Bytes section;
  for (const unsigned code : {7u, 3u, 200u}) {
    section.uleb(code).uleb(tag::kSubprogram).u8(0);
    section.uleb(at::kLowPc).uleb(form::kAddr).uleb(0).uleb(0);
  }
  section.u8(0);
  const AbbreviationTable table(section.view(), 0, UnitFormat{4, 8, 4});
  ASSERT_NE(table.find(200), nullptr);
  EXPECT_EQ(table.find(200)->code, 200u);
  EXPECT_TRUE(table.find(3)->has_code);
  EXPECT_EQ(table.find(4), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
}

class Ranges : public ::testing::Test {
 protected:
  std::vector<CodeRange> read(unsigned version, std::uint16_t range_form, std::uint64_t number) {
    sections_.code = {{0x1000, 0x9000}};
    Unit unit;
    unit.format.version = static_cast<std::uint16_t>(version);
    PcAttributes pc;
    pc.ranges = {range_form, number, {}};
    WorkBudget budget(100);
    std::vector<CodeRange> ranges;
    append_ranges(UnitContext(sections_, unit, root_), pc, budget, ranges);
    return ranges;
  }
  Sections sections_;
  UnitRoot root_;
};

std::string text(const std::vector<CodeRange>& ranges) {
  std::string result;
  for (const CodeRange& range : ranges) {
    char one[64];
    std::snprintf(one, sizeof one, "%llx-%llx ", static_cast<unsigned long long>(range.start),
                  static_cast<unsigned long long>(range.end));
    result += one;
  }
  return result;
}

TEST_F(Ranges, CountFromTheUnitsBaseUntilAnotherIsSelected) {
  root_.pc.low_pc = {form::kAddr, 0x1000, {}};
  Bytes bytes;
  bytes.u64(0x10).u64(0x20).u64(~std::uint64_t{0}).u64(0x2000).u64(0x10).u64(0x20);
  bytes.u64(1).u64(1).u64(0).u64(0);  // an empty one, then the end
  sections_.ranges = bytes.view();
  EXPECT_EQ(text(read(4, form::kSecOffset, 0)), "1010-1020 2010-2020 ");
}

TEST_F(Ranges, ReadAllKindsOfEntriesOfDwarf5) {
  Bytes addresses;
  addresses.u64(0).u64(0x3000).u64(0x4000);  // an address base of 8 skips the first
  sections_.addr = addresses.view();
  root_.addr_base = 8;
  Bytes list;
  list.u8(range_entry::kBaseAddressx).uleb(0).u8(range_entry::kOffsetPair).uleb(1).uleb(2);
  list.u8(range_entry::kStartxEndx).uleb(0).uleb(1);
  list.u8(range_entry::kStartxLength).uleb(1).uleb(5);
  list.u8(range_entry::kBaseAddress).u64(0x5000).u8(range_entry::kOffsetPair).uleb(3).uleb(4);
  list.u8(range_entry::kStartEnd).u64(0x6000).u64(0x6001);
  list.u8(range_entry::kStartLength).u64(0x7000).uleb(2).u8(range_entry::kEndOfList);
  Bytes bytes;  // a table with one offset, which counts from the table
  bytes.u32(0).u32(0).u32(0).u32(4).append(list);
  sections_.rnglists = bytes.view();
  root_.rnglists_base = 12;
  const std::string expected = "3001-3002 3000-4000 4000-4005 5003-5004 6000-6001 7000-7002 ";
  EXPECT_EQ(text(read(5, form::kRnglistx, 0)), expected);
  EXPECT_EQ(text(read(5, form::kSecOffset, 16)), expected);
  EXPECT_EQ(text(read(5, form::kRnglistx, 1u << 30)), "");
}

TEST_F(Ranges, LeaveOutWhatIsNoCode) {
  Bytes bytes;
  bytes.u8(range_entry::kStartLength).u64(0).uleb(0x8000);
  bytes.u8(range_entry::kStartLength).u64(~std::uint64_t{0}).uleb(0x8000);
  bytes.u8(range_entry::kStartLength).u64(0x1000).uleb(0).u8(range_entry::kEndOfList);
  sections_.rnglists = bytes.view();
  EXPECT_EQ(text(read(5, form::kSecOffset, 0)), "");
}

}  // namespace
}  // namespace lumbre::dwarf
