// The rules found by analysis against those that compilers wrote, on libraries of this system.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "code_test_support.h"
#include "symbolizer/dwarf/cfi.h"

namespace lumbre {
namespace {

struct Comparison {
  std::size_t functions = 0, bytes = 0;
  std::size_t proven = 0, proven_wrong = 0;
  std::size_t guessed = 0, guessed_wrong = 0;
  std::size_t missing = 0, other_register = 0;
  std::size_t saved_compared = 0, saved_wrong = 0;
};

// What every byte of a function is covered by, so that long instructions weigh more; they do in
// samples, too.
class CfiComparison {
 public:
  explicit CfiComparison(const std::shared_ptr<const ElfFile>& file) : file_(file), cfi_(file) {}

  void add(const SizedFunction& function) {
    FunctionCode code = code_of(file_, function);
    const FunctionRules by_stack_pointer = analyse_function(code);
    code.prefers_frame_pointer = true;
    const FunctionRules by_frame_pointer = analyse_function(code);
    ++result_.functions;
    for (const CompactRow& row : cfi_.rows_of_function(function.address)) {
      for (std::uint64_t pc = row.start.value; pc < row.end.value; ++pc) {
        if (pc - function.address.value < function.size_bytes) {
          const bool is_by_frame = row.rule.cfa_register == LUMBRE_RBP;
          compare(function, pc, row.rule,
                  (is_by_frame ? by_frame_pointer : by_stack_pointer).find(pc));
        }
      }
    }
  }
  const Comparison& result() const { return result_; }

 private:
  void compare(const SizedFunction& function, std::uint64_t pc, const lumbre_unwind_rule& truth,
               const std::optional<SynthesisedRule>& found) {
    if (truth.cfa_kind != LUMBRE_CFA_REGISTER || truth.return_address != -1) {
      return;
    }
    ++result_.bytes;
    if (!found.has_value()) {
      ++result_.missing;
      report(function, pc, truth, SynthesisedRule{});
      return;
    }
    if (found->rule.cfa_register != truth.cfa_register) {
      ++result_.other_register;
      report(function, pc, truth, *found);
      return;
    }
    const bool is_right =
        found->rule.cfa_kind == truth.cfa_kind && found->rule.cfa_offset == truth.cfa_offset;
    const bool is_proven = found->certainty == RuleCertainty::kProven;
    ++(is_proven ? result_.proven : result_.guessed);
    if (!is_right) {
      ++(is_proven ? result_.proven_wrong : result_.guessed_wrong);
      report(function, pc, truth, *found);
    } else if (is_proven) {
      compare_saved(truth, found->rule);
    }
  }

  // A slot that the analysis does not know costs the register, not the truth.
  void compare_saved(const lumbre_unwind_rule& truth, const lumbre_unwind_rule& found) {
    for (unsigned i = 0; i < LUMBRE_SAVED_COUNT; ++i) {
      const bool is_comparable = truth.saved[i] != LUMBRE_SLOT_SAME &&
                                 found.saved[i] != LUMBRE_SLOT_UNDEFINED && found.flags == 0 &&
                                 found.saved[i] != LUMBRE_SLOT_SAME;
      result_.saved_compared += is_comparable ? 1 : 0;
      result_.saved_wrong += is_comparable && truth.saved[i] != found.saved[i] ? 1 : 0;
    }
  }

  void report(const SizedFunction& function, std::uint64_t pc, const lumbre_unwind_rule& truth,
              const SynthesisedRule& found) {
    if (std::getenv("LUMBRE_VERBOSE") != nullptr) {
      std::printf("%s +%llx (%llx): %s r%u+%d, by CFI r%u+%d\n", function.name.c_str(),
                  static_cast<unsigned long long>(pc - function.address.value),
                  static_cast<unsigned long long>(pc),
                  found.certainty == RuleCertainty::kProven ? "proven" : "guess",
                  found.rule.cfa_register, found.rule.cfa_offset, truth.cfa_register,
                  truth.cfa_offset);
    }
  }

  std::shared_ptr<const ElfFile> file_;
  CfiTable cfi_;
  Comparison result_;
};

class FunctionRulesProperty : public ::testing::TestWithParam<const char*> {};

TEST_P(FunctionRulesProperty, WhatIsProvenIsWhatTheCompilerWroteDown) {
  void* library = ::dlopen(GetParam(), RTLD_LAZY);
  if (library == nullptr) {
    GTEST_SKIP() << GetParam() << " is not installed";
  }
  const char* symbols[] = {"printf", "_ZSt9terminatev", "EVP_EncryptInit", "sin"};
  std::string path;
  for (const char* symbol : symbols) {
    Dl_info info{};
    void* address = ::dlsym(library, symbol);
    if (address != nullptr && ::dladdr(address, &info) != 0 &&
        std::string(info.dli_fname).find(GetParam()) != std::string::npos) {
      path = info.dli_fname;
    }
  }
  ASSERT_FALSE(path.empty());
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file.has_value());
  auto elf = ElfFile::parse(std::move(file).value());
  ASSERT_TRUE(elf.has_value());
  CfiComparison comparison(*elf);
  const char* limit = std::getenv("LUMBRE_PROPERTY_FUNCTIONS");
  std::size_t left = limit == nullptr ? 600 : std::strtoul(limit, nullptr, 10);
  for (const SizedFunction& function : list_functions(**elf)) {
    if (left-- == 0) {
      break;
    }
    comparison.add(function);
  }
  const Comparison& result = comparison.result();
  std::printf(
      "%zu functions, %zu bytes: proven %zu (%zu wrong), guessed %zu (%zu wrong), "
      "missing %zu, by another register %zu; saved registers %zu (%zu wrong)\n",
      result.functions, result.bytes, result.proven, result.proven_wrong, result.guessed,
      result.guessed_wrong, result.missing, result.other_register, result.saved_compared,
      result.saved_wrong);
  EXPECT_LT(result.proven_wrong * 1000, result.proven);
  EXPECT_LE(result.saved_wrong * 1000, result.saved_compared);
  EXPECT_GT(result.proven * 10, result.bytes * 8);
}

INSTANTIATE_TEST_SUITE_P(Libraries, FunctionRulesProperty,
                         ::testing::Values("libc.so.6", "libstdc++.so.6", "libcrypto.so.3",
                                           "libm.so.6"));

}  // namespace
}  // namespace lumbre
