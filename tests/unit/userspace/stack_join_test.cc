#include "userspace/unwind/stack_join.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lumbre {
namespace {

constexpr std::uint64_t kSpace = 77;
constexpr std::uint32_t kPid = 4000001;

class StackJoinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sample_.sample.task.address_space = kSpace;
    sample_.sample.task.visible_pid = kPid;
    sample_.sample.python_end = LUMBRE_PYTHON_ROOT;
  }
  // A Python function that will be named after `code`.
  void add_python(std::uint64_t code, std::uint64_t boundary = 0) {
    lumbre_python_code seen{};
    seen.address_space = kSpace;
    seen.code = code;
    const std::string name = "f" + std::to_string(code);
    std::memcpy(seen.name, name.data(), name.size());
    seen.name_bytes = seen.name_total_bytes = static_cast<std::uint32_t>(name.size());
    codes_.add(seen);
    sample_.python.push_back({code, 0, boundary, 0});
  }
  void add_boundary(std::uint64_t address) { sample_.python.push_back({0, 0, address, 0}); }
  void add_native(std::uint64_t address, std::uint64_t sp, std::uint64_t cfa) {
    native_.frames.push_back({address, sp, cfa, 0, address});
  }
  // Root first: "n100" a native frame, "E" the eval loop, "f5" a Python frame, else a marker.
  std::string join() {
    joiner_.join(sample_, native_, joined_);
    std::string text;
    for (const FrameId id : joined_.root_first) {
      const Frame& frame = store_.frames.at(id);
      text += text.empty() ? "" : " ";
      switch (frame.kind) {
        case FrameKind::kNative:
          text += "n" + std::to_string(frame.address);
          break;
        case FrameKind::kEvalLoop:
          text += "E";
          break;
        case FrameKind::kPython:
          text += codes_.at(frame.owner).name;
          break;
        case FrameKind::kKernel:
          text += "k" + std::to_string(frame.address);
          break;
        case FrameKind::kTruncated:
          text += "[truncated]";
          break;
        case FrameKind::kMissing:
          text += "[missing]";
          break;
        default:
          text += "?";
      }
    }
    return text;
  }

  ModuleCache modules_;
  ProcessTable processes_{modules_};
  PythonCodes codes_;
  SampleStore store_;
  JitCodes jit_{processes_};
  StackJoin joiner_{modules_, codes_, jit_, store_};
  StackSample sample_;
  NativeStack native_;
  JoinedStack joined_;
};

TEST_F(StackJoinTest, PutsPythonFramesWhereTheirEvalLoopHoldsTheirBoundary) {
  add_native(1, 0x100, 0x200);
  add_native(2, 0x200, 0x300);  // eval loop of f11, f10
  add_native(3, 0x300, 0x400);
  add_native(4, 0x400, 0x500);  // eval loop of f20
  add_native(5, 0x500, 0x600);
  add_python(11);
  add_python(10);
  add_boundary(0x2f0);
  add_python(20);
  add_boundary(0x480);
  EXPECT_EQ(join(), "n5 E f20 n3 E f10 f11 n1");
  EXPECT_FALSE(joined_.is_approximate);
  EXPECT_EQ(joined_.truncated, "");
}

TEST_F(StackJoinTest, TakesTheBoundaryOfAnEntryFrameAsItsGroupsEnd) {  // 3.11
  add_native(1, 0x100, 0x200);
  add_native(2, 0x200, 0x300);
  add_python(11);
  add_python(10, 0x120);
  add_python(20, 0x250);
  EXPECT_EQ(join(), "E f20 E f10 f11");
}

TEST_F(StackJoinTest, KeepsThePythonPartWhereTheNativeWalkBroke) {
  add_native(1, 0x100, 0);
  native_.end = NativeEnd::kJitCode;
  add_python(11);
  add_boundary(0x2f0);
  add_python(20);
  add_boundary(0x480);
  EXPECT_EQ(join(), "[truncated] f20 f11 [missing] n1");
  EXPECT_EQ(joined_.truncated, "code made at run time");
}

TEST_F(StackJoinTest, ShowsTheNativePartWhereThePythonWalkBroke) {
  add_native(1, 0x100, 0x200);
  add_native(2, 0x200, 0x300);
  add_native(3, 0x300, 0x400);
  add_python(11);
  add_boundary(0x180);
  sample_.sample.python_end = LUMBRE_PYTHON_FAULT;
  EXPECT_EQ(join(), "n3 n2 [missing] E f11");
  EXPECT_EQ(joined_.truncated, "python frame not readable");
}

TEST_F(StackJoinTest, MarksAPythonGroupWithoutItsEvalLoopAsApproximate) {
  add_native(1, 0x100, 0x200);
  add_python(11);
  add_boundary(0x9000);
  EXPECT_EQ(join(), "n1 f11");
  EXPECT_TRUE(joined_.is_approximate);
}

TEST_F(StackJoinTest, PutsKernelFramesAboveEverything) {
  add_native(1, 0x100, 0x200);
  sample_.kernel_stack = {1000, 2001};
  EXPECT_EQ(join(), "n1 k2000 k1000");
}

TEST_F(StackJoinTest, AnEvalCallThatHasNoFramesYetIsHiddenNotShownAsNative) {
  add_native(1, 0x100, 0x200);
  add_native(2, 0x200, 0x300);
  add_boundary(0x150);
  add_python(20);
  add_boundary(0x280);
  EXPECT_EQ(join(), "E f20 E");
}

}  // namespace
}  // namespace lumbre
