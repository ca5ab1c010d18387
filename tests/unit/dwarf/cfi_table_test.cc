// Ways to find an FDE: the linker's table, no table, a wrong one, no section headers.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/dwarf/cfi_search_table.h"
#include "tests/unit/dwarf/cfi_test_support.h"

namespace lumbre {
namespace {

std::string own_libc() { return read_file(path_of_module("/libc.so")); }

// Every function's first address gives the same rule as in the unharmed file.
void expect_same_rules(const std::string& image, const std::string& changed) {
  const auto file = parse_image(image);
  const CfiTable expected(file);
  const CfiTable table(parse_image(changed));
  EXPECT_FALSE(table.is_empty());
  std::size_t differences = 0;
  auto section = whole_section(*file, CfiSection::Kind::kEhFrame);
  for (const auto& function : section.index_all()) {
    const ImageAddress last{function.end - 1};
    const auto a = expected.find_rule(last);
    const auto b = table.find_rule(last);
    ASSERT_TRUE(a.has_value());
    if (!b.has_value() || a->start != b->start || std::memcmp(&a->rule, &b->rule, 16) != 0) {
      ++differences;
    }
  }
  EXPECT_EQ(differences, 0u);
}

Elf64_Phdr* find_segment(std::string& image, unsigned type) {
  auto* header = reinterpret_cast<Elf64_Ehdr*>(image.data());
  auto* segments = reinterpret_cast<Elf64_Phdr*>(image.data() + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == type) {
      return &segments[i];
    }
  }
  return nullptr;
}

void remove_section_headers(std::string& image) {
  auto* header = reinterpret_cast<Elf64_Ehdr*>(image.data());
  header->e_shoff = 0;
  header->e_shnum = 0;
  header->e_shstrndx = 0;
}

TEST(CfiTable, WorksWithoutSectionHeaders) {
  const std::string image = own_libc();
  std::string changed = image;
  remove_section_headers(changed);
  expect_same_rules(image, changed);
}

TEST(CfiTable, WorksWithoutSearchTable) {
  const std::string image = own_libc();
  std::string changed = image;
  const auto* segment = find_segment(changed, PT_GNU_EH_FRAME);
  ASSERT_NE(segment, nullptr);
  changed[segment->p_offset + 3] = '\xff';  // DW_EH_PE_omit
  expect_same_rules(image, changed);
}

TEST(CfiTable, WorksWithSearchTableThatLeadsElsewhere) {
  const std::string image = own_libc();
  std::string changed = image;
  const auto* segment = find_segment(changed, PT_GNU_EH_FRAME);
  for (std::size_t at = 16; at + 8 <= segment->p_filesz; at += 8) {
    changed[segment->p_offset + at]++;
  }
  expect_same_rules(image, changed);
}

TEST(CfiTable, WorksWithSearchTableOutOfOrder) {
  const std::string image = own_libc();
  std::string changed = image;
  const auto* segment = find_segment(changed, PT_GNU_EH_FRAME);
  char* table = changed.data() + segment->p_offset + 12;
  const std::size_t half = (segment->p_filesz - 12) / 8 / 2 * 8;
  const std::string first_half(table, half);
  std::memmove(table, table + half, half);
  std::memcpy(table + half, first_half.data(), half);
  const auto file = parse_image(image);
  const CfiTable changed_table(parse_image(changed));
  // An address that no entry in sight covers makes the order be looked at.
  EXPECT_FALSE(changed_table.find_rule(ImageAddress{1}).has_value());
  auto section = whole_section(*file, CfiSection::Kind::kEhFrame);
  for (const auto& function : section.index_all()) {
    EXPECT_TRUE(changed_table.find_rule(ImageAddress{function.start}).has_value());
  }
}

TEST(CfiTable, AddressOutsideAllFunctionsHasNoRow) {
  const CfiTable table(parse_image(own_libc()));
  EXPECT_FALSE(table.find_row(ImageAddress{0}).has_value());
  EXPECT_FALSE(table.find_rule(ImageAddress{~std::uint64_t{0}}).has_value());
  EXPECT_TRUE(table.rows_of_function(ImageAddress{1}).empty());
}

TEST(CfiTable, RowsOfFunctionCoverItWithoutGapsOrEqualNeighbours) {
  const auto file = parse_image(own_libc());
  const CfiTable table(file);
  auto section = whole_section(*file, CfiSection::Kind::kEhFrame);
  for (const auto& function : section.index_all()) {
    const auto rows = table.rows_of_function(ImageAddress{function.start});
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.front().start.value, function.start);
    EXPECT_EQ(rows.back().end.value, function.end);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].start, rows[i - 1].end);
      EXPECT_NE(std::memcmp(&rows[i].rule, &rows[i - 1].rule, sizeof(rows[i].rule)), 0);
    }
  }
}

TEST(CfiTable, DebugFrameAloneIsEnough) {
  const auto file = parse_image(read_file(LUMBRE_DEBUG_FRAME_PROGRAM));
  const CfiTable table(file);
  auto section = whole_section(*file, CfiSection::Kind::kDebugFrame);
  const auto functions = section.index_all();
  ASSERT_GT(functions.size(), 5u);
  for (const auto& function : functions) {
    const auto rule = table.find_rule(ImageAddress{function.start});
    ASSERT_TRUE(rule.has_value());
    EXPECT_EQ(rule->rule.cfa_offset, 8);
  }
}

TEST(CfiSearchTable, AllFixedEncodingsAreRead) {
  const std::uint8_t bytes[] = {1,    0x03, 0x02, 0x0c,              // udata4, udata2, sdata8
                                0,    0x50, 0,    0,                 // .eh_frame
                                2,    0,                             // entries
                                0x10, 0,    0,    0,    0, 0, 0, 0,  // first
                                0x00, 0x50, 0,    0,    0, 0, 0, 0,  //
                                0x20, 0,    0,    0,    0, 0, 0, 0,  // second
                                0x40, 0x50, 0,    0,    0, 0, 0, 0};
  const auto table = CfiSearchTable::parse(std::as_bytes(std::span(bytes)), {});
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->eh_frame_address(), 0x5000u);
  EXPECT_TRUE(table->is_sorted());
  EXPECT_FALSE(table->find(0xf).has_value());
  EXPECT_EQ(table->find(0x1f)->fde_address, 0x5000u);
  EXPECT_EQ(table->find(0x20)->fde_address, 0x5040u);
}

TEST(CfiSearchTable, CountBeyondTheBytesMeansNoTable) {
  const std::uint8_t bytes[] = {1, 0x03, 0x03, 0x3b, 0, 0x50, 0, 0, 0xff, 0xff, 0xff, 0xff, 1, 2};
  const auto table = CfiSearchTable::parse(std::as_bytes(std::span(bytes)), {});
  ASSERT_TRUE(table.has_value());
  EXPECT_FALSE(table->has_table());
  EXPECT_FALSE(table->find(0x10).has_value());
}

}  // namespace
}  // namespace lumbre
