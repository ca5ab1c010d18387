// Hostile input: real images and sections with bytes changed at random. Nothing is expected of the
// answers but that they come; run under the sanitizers this finds bad reads.
#include <gtest/gtest.h>

#include <random>

#include "symbolizer/dwarf/cfi_program.h"
#include "symbolizer/dwarf/cfi_step.h"
#include "tests/unit/dwarf/cfi_test_support.h"

namespace lumbre {
namespace {

class AnyMemory : public StackReader {
 public:
  bool read_word(std::uint64_t address, std::uint64_t& value) override {
    value = address * 0x9e3779b97f4a7c15;
    return (address & 0x100) == 0;
  }
};

void change_bytes(std::string& bytes, std::mt19937_64& random, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    bytes[random() % bytes.size()] = static_cast<char>(random());
  }
}

void step_both_ways(const CfiRow& row) {
  lumbre_registers registers{};
  registers.valid = (1u << LUMBRE_REGISTER_COUNT) - 1;
  registers.value[LUMBRE_RSP] = 0x7ffc0000;
  auto copy = registers;
  AnyMemory memory;
  (void)step_by_row(row, registers, memory, 0x1000);
  (void)step_by_rule(compact_rule(row), copy, memory);
}

TEST(CfiGarbage, ChangedSectionsAreSurvived) {
  const auto file = parse_image(read_file(path_of_module("/libc.so")));
  const auto* section = file->find_section(".eh_frame");
  const std::string whole(reinterpret_cast<const char*>(section->bytes.data()),
                          section->bytes.size());
  std::mt19937_64 random(1);
  std::size_t rows = 0;
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole.substr(0, 16384);
    change_bytes(bytes, random, 1 + random() % 400);
    CfiSection changed(CfiSection::Kind::kEhFrame, std::as_bytes(std::span(bytes)), {});
    for (const auto& location : changed.index_all()) {
      const auto fde = changed.parse_fde(location.offset);
      for_each_row(changed, *fde, [&](const CfiRow& row) {
        step_both_ways(row);
        ++rows;
        return true;
      });
    }
  }
  EXPECT_GT(rows, 1000u);
}

TEST(CfiGarbage, ChangedImagesAreSurvived) {
  const std::string image = vdso_image();
  if (image.empty()) {
    GTEST_SKIP() << "this process has no vdso";
  }
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::string changed = image;
    change_bytes(changed, random, 1 + random() % 200);
    changed.resize(changed.size() - random() % 512);
    std::memcpy(changed.data(), image.data(), 32);  // still an ELF file
    auto file = ElfFile::parse(MappedFile::from_bytes(changed));
    if (!file.has_value()) {
      continue;
    }
    const CfiTable table(*file);
    for (int i = 0; i < 20; ++i) {
      const ImageAddress address{random() % (image.size() + 64)};
      if (const auto row = table.find_row(address); row.has_value()) {
        step_both_ways(*row);
      }
      (void)table.rows_of_function(address);
    }
  }
}

TEST(CfiGarbage, RandomExpressionsEnd) {
  std::mt19937_64 random(3);
  lumbre_registers registers{};
  registers.valid = (1u << LUMBRE_REGISTER_COUNT) - 1;
  AnyMemory memory;
  for (int round = 0; round < 200000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random() % 0xa0);
    }
    (void)evaluate_expression(std::as_bytes(std::span(bytes)), {registers, memory, 0}, nullptr);
  }
}

}  // namespace
}  // namespace lumbre
