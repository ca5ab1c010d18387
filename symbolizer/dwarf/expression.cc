#include "symbolizer/dwarf/expression.h"

#include <array>
#include <optional>
#include <utility>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

using namespace dwarf;

constexpr unsigned kWordBits = 64;

std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }
std::int64_t as_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

// Operators that take two values and give one; none where they are unknown or divide by zero.
std::optional<std::uint64_t> combine(std::uint8_t op, std::uint64_t first, std::uint64_t second) {
  switch (op) {
    case DW_OP_and:
      return first & second;
    case DW_OP_or:
      return first | second;
    case DW_OP_xor:
      return first ^ second;
    case DW_OP_plus:
      return first + second;
    case DW_OP_minus:
      return first - second;
    case DW_OP_mul:
      return first * second;
    case DW_OP_div:
      if (second == 0) {
        return std::nullopt;
      }
      // The one quotient that does not fit is what negation wraps to.
      return as_signed(second) == -1 ? 0 - first
                                     : as_unsigned(as_signed(first) / as_signed(second));
    case DW_OP_mod:
      return second == 0 ? std::nullopt : std::optional(first % second);
    case DW_OP_shl:
      return second < kWordBits ? first << second : 0;
    case DW_OP_shr:
      return second < kWordBits ? first >> second : 0;
    case DW_OP_shra:
      return as_unsigned(as_signed(first) >> (second < kWordBits ? second : kWordBits - 1));
    case DW_OP_eq:
      return first == second;
    case DW_OP_ne:
      return first != second;
    case DW_OP_ge:
      return as_signed(first) >= as_signed(second);
    case DW_OP_gt:
      return as_signed(first) > as_signed(second);
    case DW_OP_le:
      return as_signed(first) <= as_signed(second);
    case DW_OP_lt:
      return as_signed(first) < as_signed(second);
    default:
      return std::nullopt;
  }
}

class Evaluator {
 public:
  Evaluator(std::span<const std::byte> expression, const ExpressionContext& context)
      : reader_(expression), context_(context) {}

  std::variant<std::uint64_t, EvaluationFailure> run(const std::uint64_t* initial) {
    if (initial != nullptr) {
      push(*initial);
    }
    for (unsigned steps = 0; !reader_.is_at_end(); ++steps) {
      if (steps == kMaxExpressionSteps) {
        return EvaluationFailure::kMalformed;
      }
      step(reader_.u8());
      if (failure_.has_value()) {
        return *failure_;
      }
      if (reader_.is_failed()) {
        return EvaluationFailure::kMalformed;
      }
    }
    if (depth_ == 0) {
      return EvaluationFailure::kMalformed;
    }
    return pop();
  }

 private:
  void fail(EvaluationFailure failure) {
    if (!failure_.has_value()) {
      failure_ = failure;
    }
  }

  void push(std::uint64_t value) {
    if (depth_ == kMaxExpressionDepth) {
      fail(EvaluationFailure::kMalformed);
      return;
    }
    stack_[depth_++] = value;
  }

  std::uint64_t pop() {
    if (depth_ == 0) {
      fail(EvaluationFailure::kMalformed);
      return 0;
    }
    return stack_[--depth_];
  }

  void pick(std::size_t index) {
    if (index >= depth_) {
      fail(EvaluationFailure::kMalformed);
      return;
    }
    push(stack_[depth_ - 1 - index]);
  }

  void step(std::uint8_t op) {
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
      push(op - DW_OP_lit0);
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
      push_register(op - DW_OP_breg0, reader_.sleb128());
    } else if (op == DW_OP_bregx) {
      const std::uint64_t number = reader_.uleb128();
      push_register(number, reader_.sleb128());
    } else if (!step_constant(op) && !step_stack(op) && !step_unary(op)) {
      step_binary(op);
    }
  }

  void push_register(std::uint64_t number, std::int64_t offset) {
    if (number >= LUMBRE_REGISTER_COUNT || (context_.registers.valid >> number & 1) == 0) {
      fail(EvaluationFailure::kUnknownRegister);
      return;
    }
    push(context_.registers.value[number] + as_unsigned(offset));
  }

  bool step_constant(std::uint8_t op) {
    switch (op) {
      case DW_OP_addr:
        push(reader_.u64() + context_.bias);
        return true;
      case DW_OP_const1u:
        push(reader_.u8());
        return true;
      case DW_OP_const1s:
        push(as_unsigned(reader_.read<std::int8_t>()));
        return true;
      case DW_OP_const2u:
        push(reader_.u16());
        return true;
      case DW_OP_const2s:
        push(as_unsigned(reader_.read<std::int16_t>()));
        return true;
      case DW_OP_const4u:
        push(reader_.u32());
        return true;
      case DW_OP_const4s:
        push(as_unsigned(reader_.read<std::int32_t>()));
        return true;
      case DW_OP_const8u:
      case DW_OP_const8s:
        push(reader_.u64());
        return true;
      case DW_OP_constu:
        push(reader_.uleb128());
        return true;
      case DW_OP_consts:
        push(as_unsigned(reader_.sleb128()));
        return true;
      default:
        return false;
    }
  }

  bool step_stack(std::uint8_t op) {
    switch (op) {
      case DW_OP_nop:
        return true;
      case DW_OP_dup:
        pick(0);
        return true;
      case DW_OP_over:
        pick(1);
        return true;
      case DW_OP_pick:
        pick(reader_.u8());
        return true;
      case DW_OP_drop:
        pop();
        return true;
      case DW_OP_swap:
        if (depth_ < 2) {
          fail(EvaluationFailure::kMalformed);
        } else {
          std::swap(stack_[depth_ - 1], stack_[depth_ - 2]);
        }
        return true;
      case DW_OP_rot:
        rotate();
        return true;
      case DW_OP_skip:
        jump(reader_.read<std::int16_t>());
        return true;
      case DW_OP_bra: {
        const std::int16_t distance = reader_.read<std::int16_t>();
        if (pop() != 0) {
          jump(distance);
        }
        return true;
      }
      default:
        return false;
    }
  }

  // The top value becomes the third, the two below it move up.
  void rotate() {
    if (depth_ < 3) {
      fail(EvaluationFailure::kMalformed);
      return;
    }
    std::swap(stack_[depth_ - 1], stack_[depth_ - 2]);
    std::swap(stack_[depth_ - 2], stack_[depth_ - 3]);
  }

  void jump(std::int16_t distance) {
    const std::int64_t target = as_signed(reader_.offset()) + distance;
    if (target < 0 || target > as_signed(reader_.bytes().size())) {
      fail(EvaluationFailure::kMalformed);
      return;
    }
    reader_.seek(static_cast<std::size_t>(target));
  }

  bool step_unary(std::uint8_t op) {
    switch (op) {
      case DW_OP_deref:
        dereference(sizeof(std::uint64_t));
        return true;
      case DW_OP_deref_size:
        dereference(reader_.u8());
        return true;
      case DW_OP_abs: {
        const std::uint64_t value = pop();
        push(as_signed(value) < 0 ? 0 - value : value);
        return true;
      }
      case DW_OP_neg:
        push(0 - pop());
        return true;
      case DW_OP_not:
        push(~pop());
        return true;
      case DW_OP_plus_uconst:
        push(pop() + reader_.uleb128());
        return true;
      default:
        return false;
    }
  }

  void dereference(unsigned size_bytes) {
    std::uint64_t word = 0;
    if (size_bytes == 0 || size_bytes > sizeof(word)) {
      fail(EvaluationFailure::kMalformed);
    } else if (!context_.memory.read_word(pop(), word)) {
      fail(EvaluationFailure::kReadFault);
    } else {
      push(word & (~std::uint64_t{0} >> (kWordBits - 8 * size_bytes)));
    }
  }

  void step_binary(std::uint8_t op) {
    const std::uint64_t second = pop();
    const std::uint64_t first = pop();
    const auto result = combine(op, first, second);
    if (!result.has_value()) {
      fail(EvaluationFailure::kMalformed);
      return;
    }
    push(*result);
  }

  ByteReader reader_;
  const ExpressionContext& context_;
  std::array<std::uint64_t, kMaxExpressionDepth> stack_;
  std::size_t depth_ = 0;
  std::optional<EvaluationFailure> failure_;
};

}  // namespace

std::variant<std::uint64_t, EvaluationFailure> evaluate_expression(
    std::span<const std::byte> expression, const ExpressionContext& context,
    const std::uint64_t* initial) {
  return Evaluator(expression, context).run(initial);
}

}  // namespace lumbre
