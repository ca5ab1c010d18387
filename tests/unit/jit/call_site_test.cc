#include "symbolizer/jit/call_site.h"

#include <gtest/gtest.h>

#include <vector>

namespace lumbre {
namespace {

// Padded at the front to what call_before() is handed.
std::vector<std::byte> ending_in(std::initializer_list<unsigned char> code) {
  std::vector<std::byte> bytes(kCallBytes - code.size(), std::byte{0x90});
  for (const unsigned char byte : code) {
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

TEST(CallSite, KnowsEveryFormOfACall) {
  EXPECT_EQ(call_before(ending_in({0xe8, 1, 2, 3, 4})), CallKind::kDirect);
  EXPECT_EQ(call_before(ending_in({0xff, 0xd0})), CallKind::kIndirect);              // *%rax
  EXPECT_EQ(call_before(ending_in({0x41, 0xff, 0xd3})), CallKind::kIndirect);        // *%r11
  EXPECT_EQ(call_before(ending_in({0xff, 0x10})), CallKind::kIndirect);              // *(%rax)
  EXPECT_EQ(call_before(ending_in({0xff, 0x50, 8})), CallKind::kIndirect);           // *8(%rax)
  EXPECT_EQ(call_before(ending_in({0xff, 0x54, 0x24, 8})), CallKind::kIndirect);     // *8(%rsp)
  EXPECT_EQ(call_before(ending_in({0xff, 0x15, 1, 2, 3, 4})), CallKind::kIndirect);  // *x(%rip)
  EXPECT_EQ(call_before(ending_in({0xff, 0x90, 1, 2, 0, 0})), CallKind::kIndirect);
  EXPECT_EQ(call_before(ending_in({0xff, 0x94, 0xc3, 1, 2, 0, 0})), CallKind::kIndirect);
  EXPECT_EQ(call_before(ending_in({0xff, 0x14, 0xc5, 1, 2, 0, 0})), CallKind::kIndirect);
}

TEST(CallSite, TakesNothingElseForACall) {
  EXPECT_EQ(call_before(ending_in({0xff, 0xe0})), CallKind::kNone);        // jmp *%rax
  EXPECT_EQ(call_before(ending_in({0xff, 0x30})), CallKind::kNone);        // push (%rax)
  EXPECT_EQ(call_before(ending_in({0xe9, 1, 2, 3, 4})), CallKind::kNone);  // jmp
  EXPECT_EQ(call_before(ending_in({0xff, 0x50, 8, 9})), CallKind::kNone);  // too long by one
  EXPECT_EQ(call_before({}), CallKind::kNone);
}

TEST(CallSite, KnowsWhatStandsBehindAnIndirectJump) {
  EXPECT_TRUE(is_behind_indirect_jump(ending_in({0x41, 0xff, 0x24, 0xda})));
  EXPECT_FALSE(is_behind_indirect_jump(ending_in({0xff, 0xd0})));
}

}  // namespace
}  // namespace lumbre
