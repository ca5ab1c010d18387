#include "symbolizer/code/call_site.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace lumbre {
namespace {

bool is_call(std::initializer_list<int> bytes) {
  std::vector<std::byte> before;
  for (const int byte : bytes) {
    before.push_back(static_cast<std::byte>(byte));
  }
  return ends_in_call(before);
}

TEST(CallSite, KnowsEveryFormOfNearCall) {
  EXPECT_TRUE(is_call({0x90, 0x90, 0xe8, 1, 2, 3, 4}));
  EXPECT_TRUE(is_call({0xff, 0xd0}));                          // call *%rax
  EXPECT_TRUE(is_call({0x41, 0xff, 0xd4}));                    // call *%r12
  EXPECT_TRUE(is_call({0xff, 0x10}));                          // call *(%rax)
  EXPECT_TRUE(is_call({0xff, 0x50, 0x18}));                    // call *0x18(%rax)
  EXPECT_TRUE(is_call({0xff, 0x90, 0, 1, 0, 0}));              // call *0x100(%rax)
  EXPECT_TRUE(is_call({0xff, 0x15, 1, 2, 3, 4}));              // call *x(%rip)
  EXPECT_TRUE(is_call({0xff, 0x14, 0xc8}));                    // call *(%rax,%rcx,8)
  EXPECT_TRUE(is_call({0xff, 0x54, 0x24, 0x08}));              // call *8(%rsp)
  EXPECT_TRUE(is_call({0x42, 0xff, 0x94, 0xe0, 0, 1, 0, 0}));  // with index and offset
  EXPECT_TRUE(is_call({0x66, 0x66, 0x48, 0xe8, 1, 2, 3, 4}));  // __tls_get_addr
  EXPECT_TRUE(is_call({0x3e, 0xff, 0xd0}));                    // notrack
}

TEST(CallSite, RefusesWhatIsNoCall) {
  EXPECT_FALSE(is_call({}));
  EXPECT_FALSE(is_call({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}));
  EXPECT_FALSE(is_call({0xff, 0xe0}));              // jmp *%rax
  EXPECT_FALSE(is_call({0xff, 0xc0}));              // inc %eax
  EXPECT_FALSE(is_call({0xe9, 1, 2, 3, 4}));        // jmp
  EXPECT_FALSE(is_call({0xe8, 1, 2, 3, 4, 0x90}));  // a call, but not at the end
  EXPECT_FALSE(is_call({0xff, 0x18}));              // far
}

}  // namespace
}  // namespace lumbre
