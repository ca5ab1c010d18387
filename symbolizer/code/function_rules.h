// FunctionRules: unwind rules for code that carries none, found by static analysis of its
// instructions: a forward data flow from the entry along every path gives the stack's height and
// where the callee-saved registers were put, and from that the rule for each instruction.
//
// What is proven holds on every path that was analysed, given that calls return with the stack
// balanced and that nobody jumps into the function's middle. All else is a guess, and says so.
// Works on bytes, of a file or of a process. Any thread; hostile bytes cost at most
// kMaxAnalysisSteps steps. Cost: about 1 us for each instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bpf/abi/tables.h"

namespace lumbre {

inline constexpr std::size_t kMaxAnalysisSteps = 4'000'000;

enum class RuleCertainty : std::uint8_t {
  kProven,  // every analysed path from the entry to here agrees
  kGuess,   // no analysed path leads here, or they disagree, or the bounds are not certain
};

struct SynthesisedRule {
  lumbre_unwind_rule rule{};
  RuleCertainty certainty = RuleCertainty::kGuess;
};

struct SynthesisedRow {  // in force from start to before end
  std::uint64_t start = 0, end = 0;
  SynthesisedRule rule;
};

// Fills `bytes` from an address; false where it cannot. For jump tables, which lie outside the
// code.
using ReadBytes = std::function<bool(std::uint64_t address, std::span<std::byte> bytes)>;

struct FunctionCode {
  std::span<const std::byte> bytes;  // from the entry to the function's end
  std::uint64_t address = 0;         // of the entry
  bool is_entry_proven = true;       // false: where it starts is a guess, so all its rules are
  ReadBytes read_bytes;              // may be empty
  // Count the frame from rbp wherever that is possible, as compilers' own tables do, rather than
  // from rsp, which is known in every frame. To compare the two.
  bool prefers_frame_pointer = false;
};

class FunctionRules {
 public:
  FunctionRules() = default;
  explicit FunctionRules(std::vector<SynthesisedRow> rows) : rows_(std::move(rows)) {}

  // None outside the function, and where nothing is known.
  std::optional<SynthesisedRule> find(std::uint64_t address) const;
  std::span<const SynthesisedRow> rows() const { return rows_; }  // in order, disjoint

 private:
  std::vector<SynthesisedRow> rows_;
};

FunctionRules analyse_function(const FunctionCode& code);

}  // namespace lumbre
