// Where functions begin, in code of a few bytes and in a library whose symbols tell the truth.
#include "symbolizer/code/function_splitter.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "code_test_support.h"
#include "symbolizer/base/mapped_file.h"
#include "symbolizer/dwarf/cfi.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kBase = 0x1000;

std::vector<FunctionPart> split(std::vector<unsigned char> code) {
  return split_functions(std::as_bytes(std::span(code)), kBase);
}

std::vector<std::uint64_t> starts_of(const std::vector<FunctionPart>& parts) {
  std::vector<std::uint64_t> starts;
  for (const FunctionPart& part : parts) {
    starts.push_back(part.start - kBase);
  }
  return starts;
}

using Starts = std::vector<std::uint64_t>;

TEST(FunctionSplitter, AFunctionBeginsBehindAReturnAndItsPadding) {
  const auto parts = split({0x53, 0x5b, 0xc3, 0x90, 0xcc, 0x0f, 0x1f, 0x00, 0x53, 0x5b, 0xc3});
  EXPECT_EQ(starts_of(parts), (Starts{0, 8}));
  EXPECT_EQ(parts[0].end, kBase + 8);
  EXPECT_FALSE(parts[1].is_called);
}

TEST(FunctionSplitter, WhatAJumpOfTheFunctionReachesIsPartOfIt) {
  // je 3; ret; push; pop; ret
  EXPECT_EQ(starts_of(split({0x74, 0x01, 0xc3, 0x53, 0x5b, 0xc3})), (Starts{0}));
}

TEST(FunctionSplitter, AJumpToAnotherFunctionsStartJoinsNothing) {
  // 0: jmp 4; int3; int3; 4: ret; 5: ret; 6: call 4; ret
  const auto parts =
      split({0xeb, 0x02, 0xcc, 0xcc, 0xc3, 0xc3, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3});
  EXPECT_EQ(starts_of(parts), (Starts{0, 4, 5, 6}));
  EXPECT_TRUE(parts[1].is_called);
}

TEST(FunctionSplitter, ACallThatAsksForItsOwnAddressBeginsNoFunction) {
  EXPECT_EQ(starts_of(split({0xe8, 0, 0, 0, 0, 0x58, 0xc3})), (Starts{0}));
}

TEST(FunctionSplitter, BehindAJumpThroughATableStandsTheTablesCode) {
  // jmp *%rax; push; pop; ret; endbr64; ret
  const auto parts = split({0xff, 0xe0, 0x53, 0x5b, 0xc3, 0xf3, 0x0f, 0x1e, 0xfa, 0xc3});
  EXPECT_EQ(starts_of(parts), (Starts{0, 5}));
}

TEST(FunctionSplitter, AnAligningGapBehindTheLastCallEndsAFunction) {
  // call 1000 ahead; nop to 16; ret
  const auto parts =
      split({0xe8, 0, 4, 0, 0, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x0f, 0x1f, 0x44, 0, 0, 0xc3});
  EXPECT_EQ(starts_of(parts), (Starts{0, 16}));
}

TEST(FunctionSplitter, BytesThatAreNoCodeEndAFunction) {
  EXPECT_EQ(starts_of(split({0xc3, 0x06, 0x06, 0xc3})), (Starts{0, 3}));
  EXPECT_TRUE(split({}).empty());
}

TEST(FunctionSplitter, FindsTheStartsThatTheSymbolsOfALibraryTell) {
  const auto elf = ElfFile::parse(MappedFile::open(path_of_symbol("printf")).value()).value();
  const auto* text = elf->find_section(".text");
  const auto parts =
      split_functions(elf->bytes_at(text->address, text->size_bytes), text->address.value);
  const auto is_start = [&](std::uint64_t address) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const FunctionPart& part) { return part.start == address; });
  };
  std::size_t found = 0, total = 0;
  for (const SizedFunction& function : list_functions(*elf)) {
    if (function.address.value - text->address.value < text->size_bytes) {
      ++total;
      found += is_start(function.address.value) ? 1 : 0;
    }
  }
  std::printf("%zu of %zu functions begin where found\n", found, total);
  EXPECT_GT(found * 100, total * 90);
}

TEST(FunctionSplitter, WhatIsCalledHasTheFrameOfAFunctionsBeginning) {
  const auto elf = ElfFile::parse(MappedFile::open(path_of_symbol("printf")).value()).value();
  const CfiTable cfi(elf);
  const auto* text = elf->find_section(".text");
  std::size_t right = 0, total = 0;
  for (const FunctionPart& part :
       split_functions(elf->bytes_at(text->address, text->size_bytes), text->address.value)) {
    const auto row = cfi.find_rule({part.start});
    if (part.is_called && row.has_value()) {
      ++total;
      right += row->rule.cfa_register == LUMBRE_RSP && row->rule.cfa_offset == 8 ? 1 : 0;
    }
  }
  std::printf("%zu of %zu called starts have a new frame\n", right, total);
  EXPECT_GT(total, 500u);
  EXPECT_GE(right * 1000, total * 995);
}

}  // namespace
}  // namespace lumbre
