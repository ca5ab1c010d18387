#include "symbolizer/jit/return_path.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace lumbre {
namespace {

using Kind = PathValue::Kind;

constexpr std::uint64_t kStart = 0x400000;

class ReturnPathTest : public ::testing::Test {
 protected:
  std::optional<ReturnRule> find(std::uint64_t offset) {
    ReturnPaths paths([this](std::uint64_t address, std::span<std::byte> into) {
      const std::uint64_t at = address - kStart;
      const std::size_t count = at >= code_.size() ? 0 : std::min(into.size(), code_.size() - at);
      std::memcpy(into.data(), code_.data() + (count == 0 ? 0 : at), count);
      return count;
    });
    return paths.find(kStart + offset);
  }
  void expect(std::uint64_t offset, const PathValue& return_address) {
    const auto rule = find(offset);
    ASSERT_TRUE(rule.has_value()) << offset;
    EXPECT_EQ(rule->return_address.base, return_address.base) << offset;
    EXPECT_EQ(rule->return_address.offset, return_address.offset) << offset;
  }

  std::basic_string<unsigned char> code_;
};

PathValue slot(std::uint8_t base, std::int32_t offset) { return {Kind::kSlot, base, offset}; }
PathValue same(std::uint8_t base) { return {Kind::kRegister, base, 0}; }

// push %rbx; push %rbp; sub $0x90,%rsp; 1: dec %rbp; jnz 1b; add $0x90,%rsp; pop %rbp; pop %rbx;
// ret
const std::basic_string<unsigned char> kPushes = {0x53, 0x55, 0x48, 0x81, 0xec, 0x90, 0,    0,
                                                  0,    0x48, 0xff, 0xcd, 0x75, 0xfb, 0x48, 0x81,
                                                  0xc4, 0x90, 0,    0,    0,    0x5d, 0x5b, 0xc3};

TEST_F(ReturnPathTest, IsRightAtEveryInstructionOfAFunctionWithoutFramePointer) {
  code_ = kPushes;
  expect(0, slot(LUMBRE_RSP, 0));
  expect(1, slot(LUMBRE_RSP, 8));
  expect(2, slot(LUMBRE_RSP, 16));
  expect(9, slot(LUMBRE_RSP, 0xa0));
  expect(12, slot(LUMBRE_RSP, 0xa0));
  expect(14, slot(LUMBRE_RSP, 0xa0));
  expect(21, slot(LUMBRE_RSP, 16));
  expect(22, slot(LUMBRE_RSP, 8));
  expect(23, slot(LUMBRE_RSP, 0));
}

TEST_F(ReturnPathTest, SaysWhereTheSavedRegistersAre) {
  code_ = kPushes;
  const auto inside = find(9);
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(inside->registers[LUMBRE_RBP], slot(LUMBRE_RSP, 0x90));
  EXPECT_EQ(inside->registers[LUMBRE_RBX], slot(LUMBRE_RSP, 0x98));
  EXPECT_EQ(inside->registers[LUMBRE_R12], same(LUMBRE_R12));
  EXPECT_EQ(inside->caller_stack, (PathValue{Kind::kRegister, LUMBRE_RSP, 0xa8}));
  const auto entry = find(0);
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->registers[LUMBRE_RBP], same(LUMBRE_RBP));
}

TEST_F(ReturnPathTest, FollowsAFramePointerAndKnowsWhereItIsNotSetYet) {
  // push %rbp; mov %rsp,%rbp; sub $0x20,%rsp; call *%rsi; leave; ret
  code_ = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd6, 0xc9, 0xc3};
  expect(0, slot(LUMBRE_RSP, 0));
  expect(1, slot(LUMBRE_RSP, 8));
  expect(10, slot(LUMBRE_RBP, 8));
  expect(11, slot(LUMBRE_RSP, 0));
  EXPECT_EQ(find(10)->registers[LUMBRE_RBP], slot(LUMBRE_RBP, 0));
}

TEST_F(ReturnPathTest, FindsTheReturnAddressThatIsMovedBecauseArgumentsAreDropped) {
  // leave; pop %r10; lea (%rsp,%rdx,8),%rsp; push %r10; ret (how V8 returns)
  code_ = {0xc9, 0x41, 0x5a, 0x48, 0x8d, 0x24, 0xd4, 0x41, 0x52, 0xc3};
  expect(0, slot(LUMBRE_RBP, 8));
  EXPECT_EQ(find(0)->caller_stack.kind, Kind::kUnknown);
}

TEST_F(ReturnPathTest, TakesABranchWhereGoingStraightOnLeadsNowhere) {
  // jnz 1f; hlt; 1: add $8,%rsp; ret
  code_ = {0x75, 0x01, 0xf4, 0x48, 0x83, 0xc4, 0x08, 0xc3};
  expect(0, slot(LUMBRE_RSP, 8));
}

TEST_F(ReturnPathTest, GoesThroughLongCode) {
  for (int i = 0; i < 20000; ++i) {
    code_ += {0xc4, 0xe2, 0x75, 0xb8, 0xc2};  // vfmadd231ps %ymm2,%ymm1,%ymm0
  }
  code_ += {0x48, 0x83, 0xc4, 0x18, 0xc3};
  expect(0, slot(LUMBRE_RSP, 0x18));
  expect(5 * 1234, slot(LUMBRE_RSP, 0x18));
}

TEST_F(ReturnPathTest, HasNoAnswerWhereTheCodeJumpsThroughARegister) {
  code_ = {0xff, 0xe0};
  EXPECT_FALSE(find(0).has_value());
}

TEST_F(ReturnPathTest, HasNoAnswerInAnEndlessLoop) {
  code_ = {0xeb, 0xfe};
  EXPECT_FALSE(find(0).has_value());
}

TEST_F(ReturnPathTest, HasNoAnswerWhereTheReturnAddressIsWrittenOver) {
  code_ = {0x48, 0xc7, 0x04, 0x24, 1, 2, 3, 0, 0xc3};  // movq $0x30201,(%rsp); ret
  EXPECT_FALSE(find(0).has_value());
}

TEST_F(ReturnPathTest, SaysWhichRegisterHoldsTheReturnAddress) {
  code_ = {0x41, 0x52, 0xc3};  // push %r10; ret
  const auto rule = find(0);
  ASSERT_TRUE(rule.has_value());
  EXPECT_EQ(rule->return_address, same(LUMBRE_R10));
}

TEST_F(ReturnPathTest, HasNoAnswerWhenTheCodeEnds) {
  code_ = {0x90, 0x90};
  EXPECT_FALSE(find(0).has_value());
  EXPECT_FALSE(find(100).has_value());
}

TEST_F(ReturnPathTest, EndsOnAnyBytes) {
  std::uint64_t x = 1;
  for (int round = 0; round < 300; ++round) {
    code_.clear();
    for (int i = 0; i < 4000; ++i) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
      code_ += static_cast<unsigned char>(x >> 56);
    }
    static_cast<void>(find(0));
  }
}

}  // namespace
}  // namespace lumbre
