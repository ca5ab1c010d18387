#include "symbolizer/elf/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/elf/symbol_table.h"
#include "test_binaries.h"

namespace lumbre {
namespace {

class ElfFileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("g++") || !has_tool("nm") || !has_tool("objcopy") || !has_tool("readelf")) {
      GTEST_SKIP() << "needs g++ and binutils";
    }
  }
  // A file with hand-made PT_LOADs and nothing else.
  static std::shared_ptr<ElfFile> with_segments(const std::vector<Elf64_Phdr>& segments,
                                                std::size_t size_bytes = 65536) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = static_cast<Elf64_Half>(segments.size());
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
    bytes.append(reinterpret_cast<const char*>(segments.data()),
                 segments.size() * sizeof(Elf64_Phdr));
    bytes.resize(size_bytes);
    auto parsed = ElfFile::parse(MappedFile::from_bytes(bytes));
    return parsed.has_value() ? std::move(parsed).value() : nullptr;
  }
  static Elf64_Phdr load(std::uint32_t flags, std::uint64_t offset, std::uint64_t address,
                         std::uint64_t size_bytes) {
    return {PT_LOAD, flags, offset, address, address, size_bytes, size_bytes, 4096};
  }

  TemporaryFolder folder_;
};

// "Build ID: 1234" of readelf.
std::string readelf_build_id(const std::string& path) {
  const std::string notes = output_of("readelf -n " + path + " 2>/dev/null");
  const auto at = notes.find("Build ID: ");
  return at == std::string::npos ? "" : notes.substr(at + 10, notes.find('\n', at) - at - 10);
}

TEST_F(ElfFileTest, ReadsBuildIdOfEveryKindOfProgram) {
  for (const std::string flags :
       {"--build-id", "--build-id -no-pie", "--build-id -static", "--build-id -static-pie",
        "--build-id,-z,noseparate-code", "--build-id=md5", "--build-id=0x0102030405060708",
        "--build-id -s"}) {
    const std::string path = build_program(folder_, "program", "-Wl," + flags);
    ASSERT_FALSE(path.empty()) << flags;
    const std::string expected = readelf_build_id(path);
    EXPECT_FALSE(expected.empty()) << flags;
    EXPECT_EQ(open_elf(path)->build_id(), expected) << flags;
  }
}

TEST_F(ElfFileTest, HasEmptyBuildIdWhenThereIsNone) {
  const std::string path = build_program(folder_, "program", "-Wl,--build-id=none");
  EXPECT_EQ(open_elf(path)->build_id(), "");
}

TEST_F(ElfFileTest, ReadsBuildIdFromSegmentsWhenSectionHeadersAreGone) {
  const std::string path = build_program(folder_, "program", "-Wl,--build-id");
  const std::string id = readelf_build_id(path);
  std::string bytes = read_file(path);
  auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  header->e_shoff = 0;
  header->e_shnum = header->e_shstrndx = 0;
  const auto file = ElfFile::parse(MappedFile::from_bytes(bytes));
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE((*file)->sections().empty());
  EXPECT_EQ((*file)->build_id(), id);
}

TEST_F(ElfFileTest, FindsSymbolsByNameAsNmDoes) {
  for (const std::string flags : {"", "-no-pie", "-static", "-static-pie", "-Wl,-z,noseparate-code",
                                  "-rdynamic", "-rdynamic -Wl,--hash-style=sysv"}) {
    const std::string path = build_program(folder_, "program", flags);
    ASSERT_FALSE(path.empty()) << flags;
    const auto file = open_elf(path);
    for (const auto& symbol : nm(path)) {
      // Of data only our own: nm does not tell thread-local symbols from others.
      const bool is_unique_enough = symbol.type == 'T' || symbol.name.find("4work") == 3;
      if (is_unique_enough && symbol.size > 0) {
        const auto found = find_symbol_by_name(*file, symbol.name);
        ASSERT_TRUE(found.has_value()) << symbol.name << " " << flags;
        EXPECT_EQ(found->address.value, symbol.address) << symbol.name << " " << flags;
        EXPECT_EQ(found->size_bytes, symbol.size) << symbol.name << " " << flags;
        EXPECT_EQ(found->name, symbol.name);
      }
    }
    EXPECT_FALSE(find_symbol_by_name(*file, "no_such_symbol").has_value());
    EXPECT_FALSE(find_symbol_by_name(*file, "").has_value());
    EXPECT_FALSE(find_symbol_by_name(*file, "mai").has_value());
  }
}

TEST_F(ElfFileTest, FindsDynamicSymbolsWithoutSectionHeaders) {
  for (const std::string flags : {"-rdynamic", "-rdynamic -Wl,--hash-style=sysv"}) {
    const std::string path = build_program(folder_, "program", flags);
    const auto expected = nm(path, "-D");
    std::string bytes = read_file(path);
    reinterpret_cast<Elf64_Ehdr*>(bytes.data())->e_shoff = 0;
    const auto file = ElfFile::parse(MappedFile::from_bytes(bytes));
    ASSERT_TRUE(file.has_value());
    ASSERT_GT(expected.size(), 5U);
    for (const auto& symbol : expected) {
      if (symbol.size > 0 && (symbol.type == 'T' || symbol.type == 'D')) {
        const auto found = find_symbol_by_name(**file, symbol.name);
        ASSERT_TRUE(found.has_value()) << symbol.name << " " << flags;
        EXPECT_EQ(found->address.value, symbol.address) << symbol.name;
      }
    }
  }
}

TEST_F(ElfFileTest, PrefersTheDefaultVersionOfASymbol) {
  write_file(folder_.file("v.c"),
             "__asm__(\".symver old_f,f@V1\"); __asm__(\".symver new_f,f@@V2\");"
             "int old_f(void) { return 1; } int new_f(void) { return 2; }");
  write_file(folder_.file("v.map"), "V1 { f; }; V2 { f; } V1;");
  bool is_built = false;
  output_of("gcc -shared -fPIC -o " + folder_.file("v.so") + " " + folder_.file("v.c") +
                " -Wl,--version-script=" + folder_.file("v.map") + " 2>/dev/null",
            &is_built);
  ASSERT_TRUE(is_built);
  const auto file = open_elf(folder_.file("v.so"));
  const auto versioned = find_symbol_by_name(*file, "f");
  const auto direct = find_symbol_by_name(*file, "new_f");
  ASSERT_TRUE(versioned.has_value() && direct.has_value());
  EXPECT_EQ(versioned->address, direct->address);
  EXPECT_EQ(versioned->name, "f");
}

TEST_F(ElfFileTest, DecompressesDebugSections) {
  const std::string path = build_program(folder_, "program", "-g");
  const auto plain = open_elf(path);
  const auto expected = plain->section_data(".debug_info");
  ASSERT_FALSE(expected.empty());
  int checked = 0;
  for (const std::string kind : {"zlib", "zlib-gnu", "zlib-gabi", "zstd"}) {
    const std::string packed = folder_.file("packed-" + kind);
    bool is_packed = false;
    output_of(
        "objcopy --compress-debug-sections=" + kind + " " + path + " " + packed + " 2>/dev/null",
        &is_packed);
    if (!is_packed) {
      continue;  // this objcopy does not know it
    }
    ++checked;
    const auto file = open_elf(packed);
    for (const std::string name : {".debug_info", ".debug_str", ".debug_line", ".debug_abbrev"}) {
      const auto got = file->section_data(name);
      const auto wanted = plain->section_data(name);
      ASSERT_EQ(got.size(), wanted.size()) << kind << name;
      EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size()), 0) << kind << name;
      EXPECT_EQ(file->section_data(name).data(), got.data()) << "kept, not made again";
    }
  }
  EXPECT_GE(checked, 3);
}

TEST_F(ElfFileTest, TranslatesBetweenFileAndImage) {
  const std::string path = build_program(folder_, "program", "");
  const auto file = open_elf(path);
  for (const auto& section : file->sections()) {
    if ((section.flags & SHF_ALLOC) == 0 || section.bytes.empty()) {
      continue;
    }
    const auto offset =
        FileOffset{static_cast<std::uint64_t>(section.bytes.data() - file->bytes().data())};
    EXPECT_EQ(file->to_file_offset(section.address), offset) << section.name;
    EXPECT_EQ(file->to_image_address(offset), section.address) << section.name;
    EXPECT_EQ(file->bytes_at(section.address, section.bytes.size()).data(), section.bytes.data());
  }
  EXPECT_FALSE(file->to_image_address(FileOffset{file->bytes().size() + 4096}).has_value());
  EXPECT_FALSE(file->to_file_offset(ImageAddress{0x7fff00000000}).has_value());
  EXPECT_TRUE(file->bytes_at(ImageAddress{0}, ~std::uint64_t{0}).empty());
}

// lld puts code at an offset in the middle of a page, and maps that page twice.
TEST_F(ElfFileTest, TakesAPageOffsetOfAnExecutableMappingAsCode) {
  const auto file =
      with_segments({load(PF_R, 0, 0, 0x1234), load(PF_R | PF_X, 0x1240, 0x2240, 0x800),
                     load(PF_R | PF_W, 0x1a40, 0x3a40, 0x100)});
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->to_image_address(FileOffset{0x1000}), ImageAddress{0x2000});
  EXPECT_EQ(file->to_image_address(FileOffset{0x1300}), ImageAddress{0x2300});
  EXPECT_EQ(file->to_image_address(FileOffset{0x0fff}), ImageAddress{0x0fff});
  EXPECT_EQ(file->to_image_address(FileOffset{0x1a80}), ImageAddress{0x3a80});
  EXPECT_EQ(file->to_file_offset(ImageAddress{0x2240}), FileOffset{0x1240});
}

TEST_F(ElfFileTest, PrefersTheExecutableSegmentForSharedBytes) {
  const auto file = with_segments(
      {load(PF_R | PF_W, 0, 0x10000, 0x2000), load(PF_R | PF_X, 0x1000, 0x400000, 0x1000)});
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->to_image_address(FileOffset{0x1800}), ImageAddress{0x400800});
  EXPECT_EQ(file->to_image_address(FileOffset{0x0800}), ImageAddress{0x10800});
}

TEST_F(ElfFileTest, RefusesWhatIsNoElf) {
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string("#!/bin/sh\n"), std::string(4096, '\0')}) {
    const auto parsed = ElfFile::parse(MappedFile::from_bytes(bytes));
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().kind, ErrorKind::kMalformed);
  }
  std::string narrow(64, '\0');
  std::memcpy(narrow.data(), ELFMAG, SELFMAG);
  narrow[EI_CLASS] = ELFCLASS32;
  narrow[EI_DATA] = ELFDATA2LSB;
  const auto parsed = ElfFile::parse(MappedFile::from_bytes(narrow));
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace lumbre
