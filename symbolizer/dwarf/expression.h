// Evaluates a DWARF expression as call frame information uses it (DWARF 5, sections 2.5.1 and
// 6.4.2): registers and memory in, one 64-bit value out.
//
// Bounded: kMaxExpressionSteps operations on a stack of kMaxExpressionDepth values; hostile input
// ends in an EvaluationFailure. Location descriptions (DW_OP_reg*, pieces, calls, TLS) are not
// allowed in CFI and not known here. Any thread; no allocation.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "bpf/abi/tables.h"

namespace lumbre {

// The sampled thread's stack, or all of its memory. Any address may be asked for.
class StackReader {
 public:
  virtual ~StackReader() = default;
  // The 8-byte word at an address; false where it is not known.
  virtual bool read_word(std::uint64_t address, std::uint64_t& value) = 0;
};

inline constexpr unsigned kMaxExpressionSteps = 1000;
inline constexpr std::size_t kMaxExpressionDepth = 64;

enum class EvaluationFailure { kMalformed, kUnknownRegister, kReadFault };

struct ExpressionContext {
  const lumbre_registers& registers;
  StackReader& memory;
  std::uint64_t bias = 0;  // run-time address minus image address, for DW_OP_addr
};

// `initial` is pushed first where given: the CFA, in the rule of a register.
std::variant<std::uint64_t, EvaluationFailure> evaluate_expression(
    std::span<const std::byte> expression, const ExpressionContext& context,
    const std::uint64_t* initial);

}  // namespace lumbre
