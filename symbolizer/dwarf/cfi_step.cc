#include "symbolizer/dwarf/cfi_step.h"

#include "bpf/core/native_step.h"

namespace lumbre {
namespace {

using Kind = RegisterRule::Kind;

bool is_known(const lumbre_registers& registers, std::uint64_t number) {
  return number < LUMBRE_REGISTER_COUNT && (registers.valid >> number & 1) != 0;
}

StepResult to_step_result(EvaluationFailure failure) {
  switch (failure) {
    case EvaluationFailure::kUnknownRegister:
      return LUMBRE_STEP_UNKNOWN_REGISTER;
    case EvaluationFailure::kReadFault:
      return LUMBRE_STEP_READ_FAULT;
    case EvaluationFailure::kMalformed:
      break;
  }
  return LUMBRE_STEP_NO_RULE;
}

struct Value {
  StepResult result = LUMBRE_STEP_OK;
  std::uint64_t value = 0;
};

class RowStep {
 public:
  RowStep(const CfiRow& row, const ExpressionContext& context) : row_(row), context_(context) {}

  Value cfa() const {
    if (row_.cfa_is_expression) {
      return evaluate(row_.cfa_expression, nullptr);
    }
    Value base = read_register(row_.cfa_register);
    base.value += static_cast<std::uint64_t>(row_.cfa_offset);
    return base;
  }

  // The caller's value of one register.
  Value recover(unsigned number, std::uint64_t cfa) const {
    const RegisterRule& rule = row_.registers[number];
    const std::uint64_t place = cfa + static_cast<std::uint64_t>(rule.offset);
    switch (rule.kind) {
      case Kind::kSame:
        return keep(number, cfa);
      case Kind::kUndefined:
        return {LUMBRE_STEP_UNKNOWN_REGISTER, 0};
      case Kind::kOffset:
        return read_word(place);
      case Kind::kValueOffset:
        return {LUMBRE_STEP_OK, place};
      case Kind::kRegister:
        return read_register(static_cast<std::uint64_t>(rule.offset));
      case Kind::kExpression: {
        const Value address = evaluate(rule.expression, &cfa);
        return address.result == LUMBRE_STEP_OK ? read_word(address.value) : address;
      }
      case Kind::kValueExpression:
        return evaluate(rule.expression, &cfa);
    }
    return {LUMBRE_STEP_NO_RULE, 0};
  }

 private:
  // Without a rule: a call keeps the callee-saved registers, rsp is the CFA by definition, and
  // nothing is known of the rest.
  Value keep(unsigned number, std::uint64_t cfa) const {
    if (number == LUMBRE_RSP) {
      return {LUMBRE_STEP_OK, cfa};
    }
    if (number == LUMBRE_RIP) {
      return {LUMBRE_STEP_NO_RULE, 0};
    }
    if ((LUMBRE_SURVIVING_REGISTERS >> number & 1) == 0) {
      return {LUMBRE_STEP_UNKNOWN_REGISTER, 0};
    }
    return read_register(number);
  }

  Value read_register(std::uint64_t number) const {
    if (!is_known(context_.registers, number)) {
      return {LUMBRE_STEP_UNKNOWN_REGISTER, 0};
    }
    return {LUMBRE_STEP_OK, context_.registers.value[number]};
  }

  Value read_word(std::uint64_t address) const {
    std::uint64_t word = 0;
    if (!context_.memory.read_word(address, word)) {
      return {LUMBRE_STEP_READ_FAULT, 0};
    }
    return {LUMBRE_STEP_OK, word};
  }

  Value evaluate(std::span<const std::byte> expression, const std::uint64_t* initial) const {
    const auto result = evaluate_expression(expression, context_, initial);
    if (const auto* failure = std::get_if<EvaluationFailure>(&result)) {
      return {to_step_result(*failure), 0};
    }
    return {LUMBRE_STEP_OK, std::get<std::uint64_t>(result)};
  }

  const CfiRow& row_;
  const ExpressionContext& context_;
};

bool is_progress(const CfiRow& row, const lumbre_registers& old, const lumbre_registers& next) {
  const std::uint64_t old_stack = old.value[LUMBRE_RSP];
  const std::uint64_t next_stack = next.value[LUMBRE_RSP];
  if (row.is_signal_frame || next_stack > old_stack) {
    return true;
  }
  // vfork pops its return address into a register: its frame is empty.
  return next_stack == old_stack && row.registers[LUMBRE_RIP].kind == Kind::kRegister;
}

}  // namespace

StepResult step_by_rule(const lumbre_unwind_rule& rule, lumbre_registers& registers,
                        StackReader& stack) {
  lumbre_stack_reader reader{&stack};
  return lumbre_native_step(&rule, &registers, &reader);
}

StepResult step_by_row(const CfiRow& row, lumbre_registers& registers, StackReader& stack,
                       std::uint64_t bias) {
  if (row.registers[LUMBRE_RIP].kind == Kind::kUndefined) {
    return LUMBRE_STEP_ROOT;
  }
  const ExpressionContext context{registers, stack, bias};
  const RowStep step(row, context);
  const Value cfa = step.cfa();
  if (cfa.result != LUMBRE_STEP_OK) {
    return cfa.result;
  }
  lumbre_registers next{};
  for (unsigned number = 0; number < LUMBRE_REGISTER_COUNT; ++number) {
    const Value recovered = step.recover(number, cfa.value);
    if (recovered.result == LUMBRE_STEP_OK) {
      next.value[number] = recovered.value;
      next.valid |= LUMBRE_REGISTER_BIT(number);
    } else if (number == LUMBRE_RIP || number == LUMBRE_RSP) {
      return recovered.result;
    }
  }
  if (!is_progress(row, registers, next)) {
    return LUMBRE_STEP_NOT_PROGRESSING;
  }
  if (next.value[LUMBRE_RIP] == 0) {
    return LUMBRE_STEP_ROOT;
  }
  registers = next;
  return LUMBRE_STEP_OK;
}

}  // namespace lumbre
