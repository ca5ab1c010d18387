// Pages of unwind rules hold what the walk in user space would use, at every address.
#include "userspace/unwind/rule_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>

#include "symbolizer/base/mapped_file.h"
#include "symbolizer/procfs/maps.h"
#include "tests/unit/userspace/memory_table_store.h"

namespace lumbre {
namespace {

std::shared_ptr<ElfFile> own_libc() {
  const std::vector<MapsEntry> entries = read_maps(::getpid()).value();
  for (const MapsEntry& entry : entries) {
    if (entry.path.find("/libc.so") != std::string::npos ||
        entry.path.find("/libc-") != std::string::npos) {
      return ElfFile::parse(MappedFile::open(entry.path).value()).value();
    }
  }
  return nullptr;
}

class RulePagesTest : public ::testing::Test {
 protected:
  // As bpf/core/native_tables.h finds it.
  std::optional<lumbre_unwind_rule> look_up(std::uint32_t file, std::uint64_t address) {
    const auto found =
        store_.pages.find({file, static_cast<std::uint32_t>(address >> LUMBRE_PAGE_SHIFT)});
    if (found == store_.pages.end()) {
      return std::nullopt;
    }
    const lumbre_page& page = found->second;
    std::uint32_t at = 0;
    const std::uint64_t offset = address & ((1U << LUMBRE_PAGE_SHIFT) - 1);
    while (at + 1 < page.row_count && store_.rows()[page.first_row + at + 1].address <= offset) {
      ++at;
    }
    const std::uint16_t rule = store_.rows()[page.first_row + at].rule;
    return rule == LUMBRE_NO_RULE ? std::nullopt : std::optional(store_.rules()[rule]);
  }

  MemoryTableStore store_;
  RulePages pages_{store_};
};

CompactRow row(std::uint64_t start, std::uint64_t end, std::int32_t offset) {
  CompactRow made{{start}, {end}, {}};
  made.rule.cfa_kind = LUMBRE_CFA_REGISTER;
  made.rule.cfa_offset = offset;
  return made;
}

TEST_F(RulePagesTest, EveryPageBeginsAtItsFirstByteAndSaysWhereThereIsNoRule) {
  const auto rows =
      make_page_rows({row(0x10100, 0x10200, 8), row(0x10300, 0x10400, 16)}, {0x10000});
  std::vector<std::pair<int, int>> shape;
  for (const PageRow& page_row : rows) {
    shape.emplace_back(page_row.address, page_row.rule.cfa_offset);
  }
  EXPECT_EQ(shape, (std::vector<std::pair<int, int>>{
                       {0, 0}, {0x100, 8}, {0x200, 0}, {0x300, 16}, {0x400, 0}}));
}

TEST_F(RulePagesTest, EqualNeighboursAreOneRow) {
  const auto rows = make_page_rows({row(0, 0x100, 8), row(0x100, 0x10000, 8)}, {0});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rule.cfa_offset, 8);
}

TEST_F(RulePagesTest, AnEmptyPageIsOneRowWithoutRule) {
  const auto rows = make_page_rows({}, {0x30000});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rule.cfa_kind, LUMBRE_CFA_NONE);
}

TEST_F(RulePagesTest, RowsOfOtherOriginFillTheGapsAlone) {
  const auto rows =
      merge_rows({row(0x100, 0x200, 8), row(0x300, 0x400, 16)},
                 {row(0x80, 0x180, 24), row(0x1c0, 0x380, 32), row(0x500, 0x600, 40)});
  std::vector<std::array<std::uint64_t, 3>> shape;
  for (const CompactRow& merged : rows) {
    shape.push_back(
        {merged.start.value, merged.end.value, static_cast<std::uint64_t>(merged.rule.cfa_offset)});
  }
  EXPECT_EQ(shape, (std::vector<std::array<std::uint64_t, 3>>{{0x80, 0x100, 24},
                                                              {0x100, 0x200, 8},
                                                              {0x200, 0x300, 32},
                                                              {0x300, 0x400, 16},
                                                              {0x500, 0x600, 40}}));
}

TEST_F(RulePagesTest, LibcsPagesAgreeWithItsTableAtEveryAddress) {
  const auto elf = own_libc();
  ASSERT_NE(elf, nullptr);
  const CfiTable cfi(elf);
  const auto* text = elf->find_section(".text");
  ASSERT_NE(text, nullptr);
  const std::uint64_t begin = text->address.value;
  std::size_t differences = 0;
  for (std::uint64_t address = begin; address < begin + text->bytes.size(); address += 3) {
    pages_.publish(7, cfi, nullptr, {address}, 0);
    auto expected = cfi.find_rule({address});
    if (expected.has_value() && (expected->rule.cfa_kind == LUMBRE_CFA_FULL ||
                                 expected->rule.cfa_kind == LUMBRE_CFA_NONE)) {
      expected = std::nullopt;
    }
    const auto found = look_up(7, address);
    if (expected.has_value() != found.has_value() ||
        (found.has_value() && std::memcmp(&*found, &expected->rule, sizeof(*found)) != 0)) {
      ++differences;
    }
  }
  EXPECT_EQ(differences, 0u);
  EXPECT_GT(pages_.page_count(), 10u);
}

TEST_F(RulePagesTest, APageIsBuiltOnceForAllProcesses) {
  const auto elf = own_libc();
  const CfiTable cfi(elf);
  const ImageAddress address = elf->find_section(".text")->address;
  EXPECT_EQ(pages_.publish(1, cfi, nullptr, address, 0), RulePages::Outcome::kPublished);
  EXPECT_EQ(pages_.publish(1, cfi, nullptr, address, 0), RulePages::Outcome::kKnown);
}

TEST_F(RulePagesTest, NothingIsLoadedInTheGraceAfterAReset) {
  const auto elf = own_libc();
  const CfiTable cfi(elf);
  const ImageAddress address = elf->find_section(".text")->address;
  pages_.publish(1, cfi, nullptr, address, 0);
  pages_.reset(1'000);
  EXPECT_TRUE(store_.pages.empty());
  EXPECT_EQ(pages_.publish(1, cfi, nullptr, address, 2'000), RulePages::Outcome::kKnown);
  EXPECT_EQ(pages_.publish(1, cfi, nullptr, address, 2'000'000'000),
            RulePages::Outcome::kPublished);
}

TEST_F(RulePagesTest, ATableWithoutRoomSaysSo) {
  store_.is_full = true;
  const auto elf = own_libc();
  EXPECT_EQ(pages_.publish(1, CfiTable(elf), nullptr, elf->find_section(".text")->address, 0),
            RulePages::Outcome::kFull);
}

}  // namespace
}  // namespace lumbre
