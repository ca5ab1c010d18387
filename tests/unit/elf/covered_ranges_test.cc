#include "symbolizer/elf/covered_ranges.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace lumbre {
namespace {

FunctionStarts no_starts() {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  return FunctionStarts(**ElfFile::parse(
      MappedFile::from_bytes(std::string(reinterpret_cast<const char*>(&header), sizeof(header)))));
}

// "start+size=symbol ..." with the lower symbol number as the better alias.
std::string covered(const std::vector<SymbolExtent>& extents) {
  std::string text;
  for (const auto& range : cover_ranges(
           extents, no_starts(), [](const auto&a, const auto&b) { return a.symbol < b.symbol; })) {
    text += std::to_string(range.start) + "+" + std::to_string(range.size_bytes) + "=" +
            std::to_string(range.symbol) + " ";
  }
  return text;
}

TEST(CoveredRanges, KeepsDisjointSymbolsAndTheirGaps) {
  EXPECT_EQ(covered({{30, 40, 2, true}, {10, 20, 1, true}}), "10+10=1 30+10=2 ");
}

TEST(CoveredRanges, LetsTheInnerOfNestedSymbolsCutTheOuter) {
  EXPECT_EQ(covered({{0, 100, 1, true}, {20, 30, 2, true}}), "0+20=1 20+10=2 30+70=1 ");
}

TEST(CoveredRanges, LetsTheLaterOfCrossingSymbolsWin) {
  EXPECT_EQ(covered({{0, 50, 1, true}, {40, 60, 2, true}}), "0+40=1 40+20=2 ");
}

TEST(CoveredRanges, GivesAliasesToTheBestAndTheRestToTheLonger) {
  EXPECT_EQ(covered({{0, 50, 2, true}, {0, 10, 1, true}}), "0+10=1 10+40=2 ");
  EXPECT_EQ(covered({{0, 10, 2, true}, {0, 50, 1, true}}), "0+50=1 ");
}

TEST(CoveredRanges, DropsUnsizedSymbolsInsideSizedOnes) {
  EXPECT_EQ(covered({{0, 50, 1, true}, {20, 100, 2, false}, {0, 100, 3, false}}), "0+50=1 ");
}

TEST(CoveredRanges, BoundsUnsizedSymbolsByTheNext) {
  EXPECT_EQ(covered({{0, 100, 1, false}, {20, 100, 2, false}, {60, 70, 3, true}}),
            "0+20=1 20+40=2 60+10=3 ");
}

TEST(CoveredRanges, SortsAddressesOfAllWidths) {
  const std::uint64_t high = 0xffffffff00000000;
  EXPECT_EQ(
      covered({{high, high + 1, 3, true}, {1, 2, 1, true}, {0x1000000000, 0x1000000002, 2, true}}),
      "1+1=1 68719476736+2=2 18446744069414584320+1=3 ");
}

TEST(CoveredRanges, IsEmptyForNoSymbols) { EXPECT_EQ(covered({}), ""); }

}  // namespace
}  // namespace lumbre
