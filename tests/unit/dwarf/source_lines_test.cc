// Compiles one program in many ways and holds the answers against those of other tools.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "source_lines_fixture.h"

namespace lumbre {
namespace {

struct Way {
  const char* name;
  const char* compiler;
  const char* flags;
  // addr2line of binutils 2.40 misses inlined functions and files in DWARF 5, and LTO's names.
  bool suits_addr2line;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.compiler << " " << way.flags; }

const Way kWays[] = {
    {"GccDwarf2", "g++", "-O2 -gdwarf-2", true},
    {"GccDwarf3", "g++", "-O2 -gdwarf-3", true},
    {"GccDwarf4", "g++", "-O2 -gdwarf-4", true},
    {"GccDwarf5", "g++", "-O2 -gdwarf-5", false},
    {"GccDwarf5In64Bits", "g++", "-O2 -gdwarf-5 -gdwarf64", false},
    {"GccStrictDwarf2", "g++", "-O2 -gdwarf-2 -gstrict-dwarf", false},
    {"GccTypeUnits", "g++", "-O2 -gdwarf-4 -fdebug-types-section", true},
    {"GccCompressed", "g++", "-O2 -gdwarf-4 -gz", true},
    {"GccLinkTime", "g++", "-O2 -g -flto", false},
    {"GccDroppedSections", "g++", "-O2 -g -ffunction-sections -Wl,--gc-sections", false},
    {"GccUnoptimised", "g++", "-O0 -gdwarf-4", true},
    {"ClangDwarf2", "clang++", "-O2 -gdwarf-2", true},
    {"ClangDwarf4", "clang++", "-O2 -gdwarf-4", true},
    {"ClangDwarf5", "clang++", "-O2 -gdwarf-5", false},
    {"ClangLinkTime", "clang++", "-O2 -g -flto -fuse-ld=lld", false},
    {"ClangLinesOnly", "clang++", "-O2 -gdwarf-4 -gline-tables-only", false},
};

class SourceLinesOf : public ::testing::TestWithParam<Way> {};

std::string place_of(const SourceFrame& frame) {
  return (frame.file.empty() ? "??" : frame.file) + ":" + std::to_string(frame.line);
}

bool is_same_name(const std::string& ours, const std::string& theirs) {
  return ours == theirs || ours.ends_with("::" + theirs);
}

struct Agreement {
  std::size_t known = 0;  // addresses that the other tool has a line for
  std::size_t same_depth = 0, same_line = 0, same_callers = 0, same_names = 0;
  std::string first_difference;
};

// A call whose line is unknown has no file either, unless the other tool takes the symbol's.
bool is_same_call(const SourceFrame& ours, const OracleFrame& theirs) {
  return place_of(ours) == theirs.place || (ours.line == 0 && theirs.place.ends_with(":0"));
}

bool have_same_callers(const std::vector<SourceFrame>& ours, const OracleStack& theirs) {
  for (std::size_t i = 1; i < std::min(ours.size(), theirs.size()); ++i) {
    if (!is_same_call(ours[i], theirs[i])) {
      return false;
    }
  }
  return true;
}

// The outermost name, and with addr2line that of the innermost frame, come from the symbol table.
bool have_same_names(const std::vector<SourceFrame>& ours, const OracleStack& theirs) {
  for (std::size_t i = 1; i + 1 < std::min(ours.size(), theirs.size()); ++i) {
    if (!is_same_name(ours[i].function, theirs[i].function)) {
      return false;
    }
  }
  return true;
}

// A stack that the other tool made from the symbol table alone.
bool is_without_debug_info(const OracleStack& stack) {
  return stack.empty() || (stack.size() == 1 && stack[0].place.ends_with(":0"));
}

void compare(const std::vector<SourceFrame>& ours, const OracleStack& theirs, Agreement& result) {
  if (is_without_debug_info(theirs)) {
    return;
  }
  ++result.known;
  const bool is_same_depth = ours.size() == theirs.size();
  const bool is_same_line = !ours.empty() && place_of(ours[0]) == theirs[0].place;
  result.same_depth += is_same_depth;
  result.same_line += is_same_line;
  result.same_callers += have_same_callers(ours, theirs);
  result.same_names += have_same_names(ours, theirs);
  if ((!is_same_depth || !is_same_line) && result.first_difference.empty()) {
    result.first_difference = (ours.empty() ? "nothing" : place_of(ours[0])) + " (" +
                              std::to_string(ours.size()) + " frames) against " + theirs[0].place +
                              " (" + std::to_string(theirs.size()) + ")";
  }
}

std::string find_oracle(const Way& way) {
  if (has_tool("llvm-symbolizer")) {
    return "llvm-symbolizer";
  }
  return way.suits_addr2line && has_tool("addr2line") ? "addr2line" : "";
}

TEST_P(SourceLinesOf, AgreeWithAnotherTool) {
  const Way& way = GetParam();
  const std::string oracle = find_oracle(way);
  if (!has_tool(way.compiler) || oracle.empty()) {
    GTEST_SKIP() << way.compiler << " or a tool to compare with is not installed";
  }
  BuildFolder folder;
  if (!folder.run(std::string(way.compiler) + " -std=c++17 " + way.flags + " -x c++ " +
                  LUMBRE_SOURCE_DIR "/tests/unit/dwarf/source_lines_program.cc.txt -o program")) {
    GTEST_SKIP() << way.compiler << " does not build with " << way.flags << ": " << folder.errors();
  }
  const auto file = open_elf(folder.path() + "/program");
  ASSERT_NE(file, nullptr);
  const auto addresses = text_addresses(*file, 4000);
  const auto answers = ask_oracle(folder, oracle, "program", addresses);
  ASSERT_EQ(answers.size(), addresses.size());

  const SourceLines lines(file);
  Agreement result;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    compare(lines.find(ImageAddress{addresses[i]}), answers[i], result);
  }

  EXPECT_GT(result.known, addresses.size() * 9 / 10);
  EXPECT_EQ(result.same_depth, result.known) << result.first_difference;
  EXPECT_EQ(result.same_line, result.known) << result.first_difference;
  EXPECT_EQ(result.same_callers, result.known);
  EXPECT_EQ(result.same_names, result.known);
}

INSTANTIATE_TEST_SUITE_P(Compilers, SourceLinesOf, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

}  // namespace
}  // namespace lumbre
