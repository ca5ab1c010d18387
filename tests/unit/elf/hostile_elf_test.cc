// Broken files must not crash, hang or allocate without bound. What they give does not matter
// here; the sanitizer build is what makes these tests strict.
#include <elf.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <random>

#include "symbolizer/elf/decompress.h"
#include "symbolizer/elf/symbol_index.h"
#include "test_binaries.h"

namespace lumbre {
namespace {

void use_everything(const std::string& bytes) {
  const auto parsed = ElfFile::parse(MappedFile::from_bytes(bytes));
  if (!parsed.has_value()) {
    EXPECT_FALSE(parsed.error().message.empty());
    return;
  }
  const auto& file = *parsed;
  for (const auto& section : file->sections()) {
    const auto data = file->section_data(section.name);
    EXPECT_LT(data.size(), std::size_t{1} << 30);
  }
  file->section_data(".debug_info");
  find_symbol_by_name(*file, "main");
  find_symbol_by_name(*file, "absent");
  const auto index = SymbolIndex::build(file);
  for (const auto& segment : file->segments()) {
    file->to_image_address(segment.offset);
    file->to_file_offset(segment.address);
    file->bytes_at(segment.address, segment.memory_size_bytes);
    for (std::uint64_t at = 0; at < 0x2000; at += 61) {
      const auto found = index->find(ImageAddress{segment.address.value + at});
      EXPECT_TRUE(!found.has_value() || !found->name.empty());
    }
  }
}

class HostileElfTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("g++") || !has_tool("objcopy")) {
      GTEST_SKIP() << "needs g++ and binutils";
    }
    const std::string path = build_program(folder_, "program", "-g -Wl,--build-id");
    ASSERT_FALSE(path.empty());
    output_of("objcopy --compress-debug-sections=zlib " + path);
    program_ = read_file(path);
  }
  TemporaryFolder folder_;
  std::string program_;
};

TEST_F(HostileElfTest, SurvivesTruncation) {
  for (std::size_t size = 0; size < 1024; size += 7) {
    use_everything(program_.substr(0, size));
  }
  for (std::size_t size = 1024; size < program_.size(); size += program_.size() / 150 + 1) {
    use_everything(program_.substr(0, size));
  }
}

TEST_F(HostileElfTest, SurvivesFlippedBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = program_;
    for (int i = 0; i < 20; ++i) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    use_everything(bytes);
  }
}

TEST_F(HostileElfTest, SurvivesFlippedHeaders) {
  std::mt19937 random(11);
  const auto header = *reinterpret_cast<const Elf64_Ehdr*>(program_.data());
  const std::size_t sections_size = std::size_t{header.e_shnum} * sizeof(Elf64_Shdr);
  for (int round = 0; round < 600; ++round) {
    std::string bytes = program_;
    const bool in_sections = round % 2 == 0;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at =
          in_sections ? header.e_shoff + random() % sections_size : 16 + random() % 800;
      bytes[at] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    }
    use_everything(bytes);
  }
}

TEST_F(HostileElfTest, SurvivesSymbolsWithExtremeValues) {
  std::string bytes = program_;
  const auto header = *reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header.e_shoff);
  std::mt19937_64 random(13);
  for (int i = 0; i < header.e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB && sections[i].sh_type != SHT_DYNSYM) {
      continue;
    }
    auto* symbols = reinterpret_cast<Elf64_Sym*>(bytes.data() + sections[i].sh_offset);
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k) {
      symbols[k].st_size = random() % 2 == 0 ? ~std::uint64_t{0} : random();
      symbols[k].st_name = random() % 3 == 0 ? ~0U : symbols[k].st_name;
      symbols[k].st_value = random() % 3 == 0 ? ~std::uint64_t{0} : symbols[k].st_value;
    }
  }
  use_everything(bytes);
}

ByteVector deflated(const std::string& text) {
  uLongf size = ::compressBound(text.size());
  ByteVector packed(size);
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  return packed;
}

TEST(Decompress, WantsExactlyTheClaimedSize) {
  const std::string text(100'000, 'x');
  const auto packed = deflated(text);
  EXPECT_TRUE(decompress_zlib(packed, text.size()).has_value());
  EXPECT_FALSE(decompress_zlib(packed, text.size() - 1).has_value());
  EXPECT_FALSE(decompress_zlib(packed, text.size() + 1).has_value());
}

// The claim is 2^60 bytes; what comes out is what is allocated.
TEST(Decompress, DoesNotAllocateByTheClaim) {
  const auto packed = deflated("small");
  EXPECT_FALSE(decompress_zlib(packed, std::uint64_t{1} << 60).has_value());
  EXPECT_FALSE(decompress_zstd(packed, std::uint64_t{1} << 60).has_value());
  EXPECT_FALSE(decompress_xz(packed, std::uint64_t{1} << 60).has_value());
}

TEST(Decompress, RefusesCutAndEmptyInput) {
  const auto packed = deflated(std::string(100'000, 'x'));
  const auto half = std::span(packed).first(packed.size() / 2);
  EXPECT_FALSE(decompress_zlib(half, 100'000).has_value());
  EXPECT_FALSE(decompress_zlib({}, 1).has_value());
  EXPECT_FALSE(decompress_zstd({}, 1).has_value());
  EXPECT_FALSE(decompress_xz({}, 1).has_value());
}

}  // namespace
}  // namespace lumbre
