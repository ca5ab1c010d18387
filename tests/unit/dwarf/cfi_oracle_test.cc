// Every row of every FDE of real files against libdw, an independent reader of the same format.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/dwarf/cfi_section.h"
#include "tests/unit/dwarf/cfi_test_support.h"

namespace lumbre {
namespace {

using Kind = RegisterRule::Kind;

// What a walk needs. The defaults of the others differ between readers and matter to nobody.
constexpr int kCompared[] = {LUMBRE_RBX, LUMBRE_RBP, LUMBRE_R12, LUMBRE_R13,
                             LUMBRE_R14, LUMBRE_R15, LUMBRE_RIP};

struct FreeDeleter {
  void operator()(void* pointer) const { std::free(pointer); }
};

class Oracle {
 public:
  explicit Oracle(std::string image) : image_(std::move(image)) {
    elf_version(EV_CURRENT);
    elf_ = elf_memory(image_.data(), image_.size());
  }
  ~Oracle() {
    if (dwarf_ != nullptr) {
      dwarf_end(dwarf_);
    } else if (eh_frame_ != nullptr) {
      dwarf_cfi_end(eh_frame_);
    }
    elf_end(elf_);
  }

  Dwarf_CFI* eh_frame() { return eh_frame_ = dwarf_getcfi_elf(elf_); }
  Dwarf_CFI* debug_frame() {
    dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
    return dwarf_ == nullptr ? nullptr : dwarf_getcfi(dwarf_);
  }

 private:
  std::string image_;
  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
  Dwarf_CFI* eh_frame_ = nullptr;
};

// Operators at their places in the expression; operands are compared where they are one number.
bool is_same_expression(std::span<const std::byte> ours, const Dwarf_Op* ops, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (ops[i].offset >= ours.size() ||
        static_cast<std::uint8_t>(ours[ops[i].offset]) != ops[i].atom) {
      return false;
    }
    if (ops[i].atom >= DW_OP_breg0 && ops[i].atom <= DW_OP_breg31) {
      ByteReader reader(ours, ops[i].offset + 1);
      if (reader.sleb128() != static_cast<std::int64_t>(ops[i].number)) {
        return false;
      }
    }
  }
  return count > 0;
}

bool is_same_cfa(const CfiRow& row, const Dwarf_Op* ops, std::size_t count) {
  if (row.cfa_is_expression) {
    return is_same_expression(row.cfa_expression, ops, count);
  }
  return count == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == row.cfa_register &&
         static_cast<std::int64_t>(ops[0].number2) == row.cfa_offset;
}

bool is_same_offset(std::int64_t offset, const Dwarf_Op* ops, std::size_t count) {
  const std::int64_t theirs =
      count > 1 && ops[1].atom == DW_OP_plus_uconst ? static_cast<std::int64_t>(ops[1].number) : 0;
  return count >= 1 && ops[0].atom == DW_OP_call_frame_cfa && theirs == offset;
}

bool is_same_rule(const RegisterRule& rule, const Dwarf_Op* memory, const Dwarf_Op* ops,
                  std::size_t count) {
  const bool is_value = count > 0 && ops[count - 1].atom == DW_OP_stack_value;
  switch (rule.kind) {
    case Kind::kSame:  // libdw calls a register without a rule undefined
      return count == 0;
    case Kind::kUndefined:
      return count == 0 && ops == memory;
    case Kind::kOffset:
      return !is_value && is_same_offset(rule.offset, ops, count);
    case Kind::kValueOffset:
      return is_value && is_same_offset(rule.offset, ops, count);
    case Kind::kRegister:
      return count == 1 && ops[0].atom == DW_OP_regx &&
             static_cast<std::int64_t>(ops[0].number) == rule.offset;
    case Kind::kExpression:  // libdw puts the CFA in front
      return count > 1 && !is_value && is_same_expression(rule.expression, ops + 1, count - 1);
    case Kind::kValueExpression:
      return count > 2 && is_value && is_same_expression(rule.expression, ops + 1, count - 2);
  }
  return false;
}

// Empty where the rows agree.
std::string difference(const CfiRow& row, Dwarf_Frame* frame) {
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  bool is_signal = false;
  dwarf_frame_info(frame, &start, &end, &is_signal);
  // libdw forgets to move the start of a row that follows DW_CFA_restore_state.
  if (start > row.start.value || end != row.end.value || is_signal != row.is_signal_frame) {
    return "extent";
  }
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || !is_same_cfa(row, ops, count)) {
    return "CFA";
  }
  for (const int number : kCompared) {
    Dwarf_Op memory[3];
    if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0 ||
        !is_same_rule(row.registers[number], memory, ops, count)) {
      return "register " + std::to_string(number);
    }
  }
  return "";
}

struct Comparison {
  std::size_t functions = 0;
  std::size_t rows = 0;
  std::size_t full_rows = 0;
  std::vector<std::string> differences;
};

void compare_function(const CfiTable& table, Dwarf_CFI* cfi, const CfiSection::Location& function,
                      Comparison& result) {
  ++result.functions;
  for (std::uint64_t address = function.start; address < function.end;) {
    const auto row = table.find_row(ImageAddress{address});
    Dwarf_Frame* raw = nullptr;
    const bool is_known = dwarf_cfi_addrframe(cfi, address, &raw) == 0;
    const std::unique_ptr<Dwarf_Frame, FreeDeleter> frame(raw);
    std::string what;
    if (row.has_value() != is_known) {
      what = is_known ? "missed" : "invented";
    } else if (is_known) {
      what = difference(*row, frame.get());
    }
    if (!what.empty()) {
      std::ostringstream text;
      text << std::hex << "0x" << address << ": " << what;
      result.differences.push_back(text.str());
    }
    if (!row.has_value()) {
      return;
    }
    ++result.rows;
    result.full_rows += compact_rule(*row).cfa_kind == LUMBRE_CFA_FULL ? 1 : 0;
    address = row->end.value;
  }
}

Comparison compare_all(const std::shared_ptr<const ElfFile>& file, CfiSection::Kind kind,
                       Dwarf_CFI* cfi) {
  const CfiTable table(file);
  auto section = whole_section(*file, kind);
  Comparison result;
  for (const auto& function : section.index_all()) {
    compare_function(table, cfi, function, result);
  }
  return result;
}

Comparison compare_eh_frame(const std::string& image) {
  Oracle oracle(image);
  Dwarf_CFI* cfi = oracle.eh_frame();
  EXPECT_NE(cfi, nullptr);
  return compare_all(parse_image(image), CfiSection::Kind::kEhFrame, cfi);
}

void expect_same_rows(const Comparison& comparison, std::size_t minimum_rows) {
  EXPECT_GE(comparison.rows, minimum_rows);
  EXPECT_TRUE(comparison.differences.empty())
      << comparison.differences.size() << " of " << comparison.rows << " rows differ, first at "
      << comparison.differences.front();
  // One row in a thousand may be left to user space; libc's longjmp and setcontext are.
  EXPECT_LE(comparison.full_rows * 1000, comparison.rows);
}

TEST(CfiOracle, LibcRowsAreThoseOfLibdw) {
  expect_same_rows(compare_eh_frame(read_file(path_of_module("/libc.so"))), 10000);
}

TEST(CfiOracle, LibstdcxxRowsAreThoseOfLibdw) {
  expect_same_rows(compare_eh_frame(read_file(path_of_module("/libstdc++.so"))), 10000);
}

TEST(CfiOracle, OwnProgramWithRealignedStackIsReadAsByLibdw) {
  expect_same_rows(compare_eh_frame(read_file("/proc/self/exe")), 1000);
}

TEST(CfiOracle, VdsoRowsAreThoseOfLibdw) {
  const std::string image = vdso_image();
  if (image.empty()) {
    GTEST_SKIP() << "this process has no vdso";
  }
  const auto comparison = compare_eh_frame(image);
  EXPECT_TRUE(comparison.differences.empty()) << comparison.differences.front();
  EXPECT_GT(comparison.rows, 0u);
}

TEST(CfiOracle, DebugFrameRowsAreThoseOfLibdw) {
  const std::string image = read_file(LUMBRE_DEBUG_FRAME_PROGRAM);
  Oracle oracle(image);
  Dwarf_CFI* cfi = oracle.debug_frame();
  ASSERT_NE(cfi, nullptr);
  const auto comparison = compare_all(parse_image(image), CfiSection::Kind::kDebugFrame, cfi);
  EXPECT_TRUE(comparison.differences.empty()) << comparison.differences.front();
  EXPECT_GT(comparison.functions, 5u);
}

// LUMBRE_CFI_FILES=path:path... adds files, however large.
TEST(CfiOracle, NamedFilesAreReadAsByLibdw) {
  const char* named = std::getenv("LUMBRE_CFI_FILES");
  if (named == nullptr) {
    GTEST_SKIP() << "LUMBRE_CFI_FILES names no files";
  }
  std::istringstream paths(named);
  for (std::string path; std::getline(paths, path, ':');) {
    SCOPED_TRACE(path);
    const auto comparison = compare_eh_frame(read_file(path));
    expect_same_rows(comparison, 1);
    std::printf("%s: %zu functions, %zu rows, %zu need the whole row\n", path.c_str(),
                comparison.functions, comparison.rows, comparison.full_rows);
  }
}

}  // namespace
}  // namespace lumbre
