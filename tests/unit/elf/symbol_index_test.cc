#include "symbolizer/elf/symbol_index.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "test_binaries.h"

namespace lumbre {
namespace {

class SymbolIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("g++") || !has_tool("nm") || !has_tool("objcopy")) {
      GTEST_SKIP() << "needs g++ and binutils";
    }
  }
  std::shared_ptr<ElfFile> assemble(const std::string& name, const std::string& source) {
    write_file(folder_.file(name + ".s"), source);
    bool is_built = false;
    output_of("gcc -shared -nostdlib -o " + folder_.file(name) + " " + folder_.file(name + ".s"),
              &is_built);
    EXPECT_TRUE(is_built);
    return is_built ? open_elf(folder_.file(name)) : nullptr;
  }
  static std::string name_at(const SymbolIndex& index, std::uint64_t address) {
    const auto found = index.find(ImageAddress{address});
    return found.has_value() ? std::string(found->name) : "";
  }

  TemporaryFolder folder_;
};

// Markers of SystemTap probes are weak symbols in a section without code.
bool is_code(const NmSymbol& symbol) {
  return std::string_view("tTwWi").find(symbol.type) != std::string_view::npos &&
         symbol.name.find(".stapsdt") == std::string::npos;
}

// Every function that nm lists with a size is found at its first, middle and last byte.
void expect_names_of_nm(const SymbolIndex& index, const std::vector<NmSymbol>& symbols) {
  std::multimap<std::uint64_t, std::string> names;
  for (const auto& symbol : symbols) {
    names.emplace(symbol.address, symbol.name);
  }
  int count = 0;
  for (const auto& symbol : symbols) {
    if (!is_code(symbol) || symbol.size == 0) {
      continue;
    }
    ++count;
    for (const auto offset : {std::uint64_t{0}, symbol.size / 2, symbol.size - 1}) {
      const auto found = index.find(ImageAddress{symbol.address + offset});
      ASSERT_TRUE(found.has_value()) << symbol.name;
      const auto [first, last] = names.equal_range(found->address.value);
      EXPECT_TRUE(std::any_of(first, last, [&](const auto& n) { return n.second == found->name; }))
          << found->name << " for " << symbol.name;
    }
  }
  EXPECT_GT(count, 3);
}

TEST_F(SymbolIndexTest, AgreesWithNmOnEveryKindOfProgram) {
  for (const std::string flags : {"", "-no-pie", "-static", "-static-pie", "-Wl,-z,noseparate-code",
                                  "-fcf-protection=none"}) {
    const std::string path = build_program(folder_, "program", flags);
    ASSERT_FALSE(path.empty()) << flags;
    const auto index = SymbolIndex::build(open_elf(path));
    EXPECT_TRUE(index->has_symtab());
    SCOPED_TRACE(flags);
    expect_names_of_nm(*index, nm(path));
  }
}

TEST_F(SymbolIndexTest, UsesDynamicSymbolsOfAStrippedProgram) {
  const std::string path = build_program(folder_, "program", "-s -rdynamic");
  const auto index = SymbolIndex::build(open_elf(path));
  EXPECT_FALSE(index->has_symtab());
  expect_names_of_nm(*index, nm(path, "-D"));
}

TEST_F(SymbolIndexTest, UsesDynamicSymbolsWithoutSectionHeaders) {
  const std::string path = build_program(folder_, "program", "-rdynamic");
  const auto expected = nm(path, "-D");
  std::string bytes = read_file(path);
  auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
  auto file = ElfFile::parse(MappedFile::from_bytes(bytes));
  ASSERT_TRUE(file.has_value());
  expect_names_of_nm(*SymbolIndex::build(*file), expected);
}

TEST_F(SymbolIndexTest, ReadsGnuDebugData) {
  if (!has_tool("xz")) {
    GTEST_SKIP() << "needs xz";
  }
  const std::string path = build_program(folder_, "program", "");
  const auto expected = nm(path);
  const std::string small = folder_.file("small");
  bool is_made = false;
  output_of("objcopy --only-keep-debug " + path + " " + small + " && xz " + small +
                " && objcopy -S --add-section .gnu_debugdata=" + small + ".xz " + path + " " + path,
            &is_made);
  ASSERT_TRUE(is_made);
  const auto index = SymbolIndex::build(open_elf(path));
  EXPECT_TRUE(index->has_symtab());
  expect_names_of_nm(*index, expected);
}

TEST_F(SymbolIndexTest, ReadsSymbolsOfASeparateDebugFile) {
  const std::string path = build_program(folder_, "program", "-g");
  const std::string debug = folder_.file("program.debug");
  output_of("objcopy --only-keep-debug " + path + " " + debug);
  expect_names_of_nm(*SymbolIndex::build(open_elf(debug)), nm(path));
}

TEST_F(SymbolIndexTest, NamesNothingBetweenFunctions) {
  const auto file = assemble("gap",
                             ".globl a,b\n.type a,@function\n.type b,@function\n"
                             "a: .fill 16,1,0x90\n.size a,.-a\n.fill 100,1,0xcc\n"
                             "b: .fill 16,1,0x90\n.size b,.-b\n.fill 50,1,0xcc\n");
  const auto index = SymbolIndex::build(file);
  const auto a = find_symbol_by_name(*file, "a")->address.value;
  const auto b = find_symbol_by_name(*file, "b")->address.value;
  EXPECT_EQ(name_at(*index, a + 15), "a");
  EXPECT_EQ(name_at(*index, a + 16), "");
  EXPECT_EQ(name_at(*index, b - 1), "");
  EXPECT_EQ(name_at(*index, b), "b");
  EXPECT_EQ(name_at(*index, b + 16), "");
  EXPECT_EQ(name_at(*index, a - 1), "");
  EXPECT_EQ(name_at(*index, ~std::uint64_t{0}), "");
}

TEST_F(SymbolIndexTest, GivesAnUnsizedSymbolTheSpaceUpToTheNext) {
  const auto file = assemble("unsized",
                             ".globl raw,sized,tail\n raw: .fill 40,1,0x90\n"
                             ".type sized,@function\nsized: .fill 16,1,0x90\n"
                             "inner: .fill 16,1,0x90\n.size sized,.-sized\n"
                             "tail: .fill 24,1,0x90\n"
                             ".section .other,\"ax\"\n.fill 64,1,0x90\n");
  const auto index = SymbolIndex::build(file);
  const auto raw = find_symbol_by_name(*file, "raw")->address.value;
  EXPECT_EQ(name_at(*index, raw), "raw");
  EXPECT_EQ(name_at(*index, raw + 39), "raw");
  EXPECT_EQ(name_at(*index, raw + 40), "sized");
  EXPECT_EQ(name_at(*index, raw + 56), "sized") << "a label inside a function is not a function";
  EXPECT_EQ(name_at(*index, raw + 72), "tail");
  EXPECT_EQ(name_at(*index, raw + 95), "tail");
  EXPECT_EQ(name_at(*index, raw + 96), "") << "the section has ended";
}

TEST_F(SymbolIndexTest, EndsAnUnsizedSymbolWhereUnwindDataStartsAnotherFunction) {
  const auto file = assemble("fde",
                             ".globl raw\n raw: .fill 40,1,0x90\n"
                             ".cfi_startproc\n.fill 40,1,0x90\n.cfi_endproc\n");
  output_of("strip " + folder_.file("fde"));
  const auto stripped = open_elf(folder_.file("fde"));
  const auto index = SymbolIndex::build(stripped);
  const auto raw = find_symbol_by_name(*stripped, "raw")->address.value;
  EXPECT_EQ(name_at(*index, raw + 39), "raw");
  EXPECT_EQ(name_at(*index, raw + 40), "");
}

TEST_F(SymbolIndexTest, PicksAliasesAsPerfDoes) {
  const auto file = assemble("alias",
                             ".globl __strong,strong,strong_long\n.weak weak_with_a_long_name\n"
                             ".type __strong,@function\n.type strong,@function\n"
                             ".type strong_long,@function\n.type weak_with_a_long_name,@function\n"
                             ".type local_with_a_long_name,@function\n"
                             "__strong: strong: strong_long: weak_with_a_long_name:\n"
                             "local_with_a_long_name: .fill 16,1,0x90\n"
                             ".size __strong,16\n.size strong,16\n.size strong_long,16\n"
                             ".size weak_with_a_long_name,16\n.size local_with_a_long_name,16\n");
  const auto index = SymbolIndex::build(file);
  EXPECT_EQ(name_at(*index, find_symbol_by_name(*file, "strong")->address.value + 3),
            "strong_long");
}

TEST_F(SymbolIndexTest, IgnoresDataSymbols) {
  const std::string path = build_program(folder_, "program", "");
  const auto file = open_elf(path);
  const auto data = find_symbol_by_name(*file, "_ZN4work11data_objectE");
  ASSERT_TRUE(data.has_value());
  EXPECT_EQ(name_at(*SymbolIndex::build(file), data->address.value), "");
}

// "0000000000001030 <puts@plt>:" lines of objdump.
std::vector<NmSymbol> objdump_stubs(const std::string& path) {
  std::vector<NmSymbol> stubs;
  std::istringstream lines(output_of("objdump -d --no-show-raw-insn " + path));
  for (std::string line; std::getline(lines, line);) {
    const auto open = line.find(" <");
    const auto end = line.find("@plt>:");
    if (open != std::string::npos && end != std::string::npos && line[open + 2] != '*') {
      stubs.push_back(
          {std::stoull(line, nullptr, 16), 0, 't', line.substr(open + 2, end + 4 - open - 2)});
    }
  }
  return stubs;
}

TEST_F(SymbolIndexTest, NamesPltStubsAsObjdumpDoes) {
  for (const std::string flags :
       {"", "-no-pie", "-fcf-protection=full -Wl,-z,ibtplt", "-Wl,-z,lazy", "-s",
        "-no-pie -Wl,-z,lazy -fcf-protection=none"}) {
    const std::string path = build_program(folder_, "program", flags);
    ASSERT_FALSE(path.empty()) << flags;
    const auto stubs = objdump_stubs(path);
    const auto index = SymbolIndex::build(open_elf(path));
    ASSERT_GE(stubs.size(), 3U) << flags;
    for (const auto& stub : stubs) {
      EXPECT_EQ(name_at(*index, stub.address), stub.name) << flags;
      EXPECT_EQ(name_at(*index, stub.address + 6), stub.name) << flags;
    }
  }
}

TEST_F(SymbolIndexTest, NamesPltStubsOfStaticPrograms) {
  const std::string path = build_program(folder_, "program", "-static");
  ASSERT_FALSE(path.empty());
  const auto file = open_elf(path);
  const auto index = SymbolIndex::build(file);
  const auto* plt = file->find_section(".plt");
  ASSERT_NE(plt, nullptr);
  std::set<std::string> names;
  for (std::uint64_t at = 0; at < plt->size_bytes; at += 16) {
    names.insert(name_at(*index, plt->address.value + at));
  }
  EXPECT_TRUE(names.count("strlen@plt") == 1 || names.count("memcpy@plt") == 1 ||
              names.count("memmove@plt") == 1);
}

}  // namespace
}  // namespace lumbre
