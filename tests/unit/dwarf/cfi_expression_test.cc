#include <gtest/gtest.h>

#include "symbolizer/dwarf/expression.h"
#include "tests/unit/dwarf/cfi_bytes.h"

namespace lumbre {
namespace {

// Memory whose word at an address is the address plus one, readable below 0x10000.
class Ramp : public StackReader {
 public:
  bool read_word(std::uint64_t address, std::uint64_t& value) override {
    value = address + 1;
    return address < 0x10000;
  }
};

std::variant<std::uint64_t, EvaluationFailure> evaluate(CfiBytes::Bytes expression,
                                                        std::uint64_t bias = 0) {
  lumbre_registers registers{};
  registers.value[LUMBRE_RSP] = 0x7000;
  registers.valid = 1u << LUMBRE_RSP;
  Ramp memory;
  const auto bytes = CfiBytes().raw(expression);
  return evaluate_expression(bytes.span(), {registers, memory, bias}, nullptr);
}

std::uint64_t value_of(CfiBytes::Bytes expression, std::uint64_t bias = 0) {
  const auto result = evaluate(expression, bias);
  EXPECT_TRUE(std::holds_alternative<std::uint64_t>(result));
  return std::holds_alternative<std::uint64_t>(result) ? std::get<std::uint64_t>(result) : 0;
}

EvaluationFailure failure_of(CfiBytes::Bytes expression) {
  return std::get<EvaluationFailure>(evaluate(expression));
}

constexpr auto kMinus = [](std::int64_t value) { return static_cast<std::uint64_t>(-value); };

TEST(CfiExpression, Constants) {
  EXPECT_EQ(value_of({0x4f}), 31u);
  EXPECT_EQ(value_of({0x08, 0xff}), 255u);
  EXPECT_EQ(value_of({0x09, 0xff}), kMinus(1));
  EXPECT_EQ(value_of({0x0a, 0x34, 0x12}), 0x1234u);
  EXPECT_EQ(value_of({0x0b, 0xfe, 0xff}), kMinus(2));
  EXPECT_EQ(value_of({0x0c, 1, 0, 0, 0x80}), 0x80000001u);
  EXPECT_EQ(value_of({0x0d, 0xfd, 0xff, 0xff, 0xff}), kMinus(3));
  EXPECT_EQ(value_of({0x0e, 1, 2, 0, 0, 0, 0, 0, 0}), 0x201u);
  EXPECT_EQ(value_of({0x10, 0x80, 0x01}), 128u);
  EXPECT_EQ(value_of({0x11, 0x7f}), kMinus(1));
  EXPECT_EQ(value_of({0x03, 0, 0x10, 0, 0, 0, 0, 0, 0}, 0x400000), 0x401000u);
}

TEST(CfiExpression, RegistersAndMemory) {
  EXPECT_EQ(value_of({0x77, 0x78}), 0x6ff8u);
  EXPECT_EQ(value_of({0x92, 7, 8}), 0x7008u);
  EXPECT_EQ(value_of({0x77, 0, 0x06}), 0x7001u);
  EXPECT_EQ(value_of({0x77, 0, 0x94, 1}), 0x01u);
  EXPECT_EQ(failure_of({0x76, 0}), EvaluationFailure::kUnknownRegister);
  EXPECT_EQ(failure_of({0x92, 0xff, 0x7f, 0}), EvaluationFailure::kUnknownRegister);
  EXPECT_EQ(failure_of({0x0c, 0, 0, 1, 0, 0x06}), EvaluationFailure::kReadFault);
}

TEST(CfiExpression, StackOperators) {
  EXPECT_EQ(value_of({0x31, 0x32, 0x12, 0x22}), 4u);        // dup
  EXPECT_EQ(value_of({0x31, 0x32, 0x13}), 1u);              // drop
  EXPECT_EQ(value_of({0x31, 0x32, 0x14}), 1u);              // over
  EXPECT_EQ(value_of({0x31, 0x32, 0x33, 0x15, 2}), 1u);     // pick
  EXPECT_EQ(value_of({0x31, 0x32, 0x16}), 1u);              // swap
  EXPECT_EQ(value_of({0x31, 0x32, 0x33, 0x17}), 2u);        // rot
  EXPECT_EQ(value_of({0x31, 0x32, 0x33, 0x17, 0x13}), 1u);  // rot
}

TEST(CfiExpression, Arithmetic) {
  EXPECT_EQ(value_of({0x35, 0x33, 0x1a}), 1u);
  EXPECT_EQ(value_of({0x35, 0x33, 0x21}), 7u);
  EXPECT_EQ(value_of({0x35, 0x33, 0x27}), 6u);
  EXPECT_EQ(value_of({0x35, 0x33, 0x1c}), 2u);
  EXPECT_EQ(value_of({0x35, 0x33, 0x1e}), 15u);
  EXPECT_EQ(value_of({0x11, 0x79, 0x32, 0x1b}), kMinus(3));
  EXPECT_EQ(value_of({0x37, 0x34, 0x1d}), 3u);
  EXPECT_EQ(value_of({0x31, 0x34, 0x24}), 16u);
  EXPECT_EQ(value_of({0x11, 0x78, 0x32, 0x26}), kMinus(2));
  EXPECT_EQ(value_of({0x11, 0x78, 0x08, 60, 0x25}), 15u);
  EXPECT_EQ(value_of({0x31, 0x08, 64, 0x24}), 0u);
  EXPECT_EQ(value_of({0x35, 0x1f}), kMinus(5));
  EXPECT_EQ(value_of({0x11, 0x7b, 0x19}), 5u);
  EXPECT_EQ(value_of({0x30, 0x20}), kMinus(1));
  EXPECT_EQ(value_of({0x35, 0x23, 0x80, 0x01}), 133u);
  EXPECT_EQ(failure_of({0x35, 0x30, 0x1b}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x35, 0x30, 0x1d}), EvaluationFailure::kMalformed);
  EXPECT_EQ(value_of({0x0f, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x11, 0x7f, 0x1b}), std::uint64_t{1} << 63);
}

TEST(CfiExpression, ComparisonsAreSigned) {
  EXPECT_EQ(value_of({0x11, 0x7f, 0x31, 0x2d}), 1u);
  EXPECT_EQ(value_of({0x11, 0x7f, 0x31, 0x2a}), 0u);
  EXPECT_EQ(value_of({0x31, 0x31, 0x29}), 1u);
  EXPECT_EQ(value_of({0x31, 0x31, 0x2e}), 0u);
  EXPECT_EQ(value_of({0x31, 0x31, 0x2c}), 1u);
  EXPECT_EQ(value_of({0x31, 0x31, 0x2b}), 0u);
}

TEST(CfiExpression, Branches) {
  EXPECT_EQ(value_of({0x31, 0x2f, 1, 0, 0x32}), 1u);
  EXPECT_EQ(value_of({0x31, 0x31, 0x28, 1, 0, 0x32}), 1u);
  EXPECT_EQ(value_of({0x31, 0x30, 0x28, 1, 0, 0x32}), 2u);
  EXPECT_EQ(failure_of({0x31, 0x2f, 9, 0}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x2f, 0xf0, 0xff}), EvaluationFailure::kMalformed);
}

TEST(CfiExpression, EndlessLoopsAndDeepStacksEnd) {
  EXPECT_EQ(failure_of({0x2f, 0xfd, 0xff}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x31, 0x2f, 0xfc, 0xff}), EvaluationFailure::kMalformed);
}

TEST(CfiExpression, EmptyStackAndUnknownOperatorsAreMalformed) {
  EXPECT_EQ(failure_of({}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x22}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x31, 0x17}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x31, 0x32, 0xf0}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x0e, 1}), EvaluationFailure::kMalformed);
  EXPECT_EQ(failure_of({0x31, 0x94, 9}), EvaluationFailure::kMalformed);
}

}  // namespace
}  // namespace lumbre
