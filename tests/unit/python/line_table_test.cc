#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "symbolizer/python/code_object.h"
#include "tests/unit/python/interpreters.h"

namespace lumbre {
namespace {

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(at, 2), nullptr, 16));
  }
  return bytes;
}

// One line of dump_lines.py.
struct ToldCode {
  PythonCode code;
  struct Change {
    std::int64_t offset = 0;
    PythonLine line;
  };
  std::vector<Change> changes;
  std::int64_t end = 0;
};

ToldCode parse_told_code(const std::string& text, unsigned minor) {
  ToldCode told;
  std::istringstream stream(text);
  std::string table;
  stream >> told.code.first_line >> table;
  told.code.version = 0x0300 | minor;
  told.code.line_table = bytes_of_hex(table);
  ToldCode::Change change;
  char colon = 0;
  while (stream >> change.offset >> colon >> change.line.line >> colon >> change.line.column) {
    told.changes.push_back(change);
  }
  told.end = change.offset;  // the last entry, "OFFSET:end", fails after its number
  return told;
}

// The number of instruction words compared; failures are reported, the first of a code only.
std::int64_t compare_lines(const ToldCode& told) {
  std::size_t next = 0;
  PythonLine expected;
  for (std::int64_t offset = 0; offset < told.end; offset += 2) {
    if (next < told.changes.size() && told.changes[next].offset == offset) {
      expected = told.changes[next++].line;
    }
    const PythonLine found = find_line(told.code, offset);
    if (found.line != expected.line || found.column != expected.column) {
      ADD_FAILURE() << "at offset " << offset << " of the code at line " << told.code.first_line
                    << ": " << found.line << ':' << found.column << ", the interpreter says "
                    << expected.line << ':' << expected.column;
      break;
    }
  }
  return told.end / 2;
}

class LineTable : public ::testing::TestWithParam<Interpreter> {};

TEST_P(LineTable, GivesTheInterpretersOwnLineAndColumnOfEveryInstruction) {
  const auto child =
      ChildProcess::start({GetParam().path, LUMBRE_SOURCE_DIR "/tests/unit/python/dump_lines.py"});
  ASSERT_NE(child, nullptr);
  int codes = 0;
  std::int64_t words = 0;
  for (std::string line; child->read_line(line) && !HasFailure(); ++codes) {
    words += compare_lines(parse_told_code(line, GetParam().version.minor));
  }
  EXPECT_GT(codes, 1000);
  EXPECT_GT(words, 100000);
  RecordProperty("codes", codes);
  RecordProperty("instruction_words", std::to_string(words));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LineTable);
INSTANTIATE_TEST_SUITE_P(Every, LineTable, ::testing::ValuesIn(find_interpreters()),
                         interpreter_test_name);

constexpr std::uint32_t kVersions[] = {0x0308, 0x0309, 0x030a, 0x030b, 0x030d};

TEST(FindLine, IsTheFirstLineBeforeAFrameStarts) {
  for (const std::uint32_t version : kVersions) {
    PythonCode code;
    code.first_line = 42;
    code.version = version;
    EXPECT_EQ(find_line(code, -2).line, 42u);
  }
}

TEST(FindLine, IsUnknownBeyondATableThatWasCutShort) {
  for (const std::uint32_t version : kVersions) {
    PythonCode code;
    code.first_line = 42;
    code.version = version;
    code.line_table = {0x02, 0x01};
    code.is_line_table_whole = false;
    EXPECT_EQ(find_line(code, 1000).line, 0u);
  }
}

TEST(FindLine, SurvivesAnyBytes) {
  std::mt19937 random(1);
  PythonCode code;
  code.first_line = 0xffffffff;
  for (int round = 0; round < 20000; ++round) {
    code.version = kVersions[random() % std::size(kVersions)];
    code.line_table.resize(random() % 64);
    for (char& byte : code.line_table) {
      byte = static_cast<char>(random());
    }
    find_line(code, static_cast<std::int64_t>(random() % 512) - 2);
  }
}

}  // namespace
}  // namespace lumbre
