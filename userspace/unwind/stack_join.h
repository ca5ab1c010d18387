// StackJoin: one stack out of the kernel, native and Python parts of a sample.
//
// The two walks know nothing of each other. They are joined by containment: each Python group (the
// frames of one eval call) ends in an address that lies inside that call's native stack frame, so
// the native frame that holds the address is the eval loop. Before 3.11 there is no such address,
// but exactly one eval call per Python frame: they are paired from the root, or, where the native
// walk has no root, from the leaf. Where the native walk broke off, the Python part goes on below
// it, with the gap shown. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/aggregate/samples.h"
#include "userspace/process/jit_codes.h"
#include "userspace/unwind/native_unwinder.h"
#include "userspace/unwind/python_codes.h"

namespace lumbre {

struct JoinedStack {
  std::vector<FrameId> root_first;
  std::string truncated;  // the cause, "" where the stack is complete to its root
  bool is_approximate = false;
};

class StackJoin {
 public:
  StackJoin(ModuleCache& modules, PythonCodes& codes, JitCodes& jit, SampleStore& store)
      : modules_(modules), codes_(codes), jit_(jit), store_(store) {}
  // Rewrites `joined`.
  void join(const StackSample& sample, const NativeStack& native, JoinedStack& joined);

 private:
  static constexpr std::size_t kUnmatched = ~std::size_t{0};
  struct Group {  // the frames of one eval call: indices into sample.python
    std::size_t begin = 0, end = 0;
    std::uint64_t boundary = 0;
    std::size_t native = kUnmatched;  // index of its eval loop's native frame
  };
  struct Build;

  void make_groups(const StackSample& sample);
  void match_by_containment(const NativeStack& native);
  void match_by_count(const NativeStack& native);
  bool is_eval_loop(const NativeFrame& frame);
  void add_native(Build& build, std::size_t end);
  void add_python(Build& build, const Group& group);
  void add_text(Build& build, FrameKind kind, const std::string& text);
  void add_user_part(Build& build);
  std::string describe_native_end(const NativeStack& native);

  ModuleCache& modules_;
  PythonCodes& codes_;
  JitCodes& jit_;
  SampleStore& store_;
  std::vector<Group> groups_;
  std::map<std::pair<ModuleId, std::uint64_t>, bool> eval_loops_;
};

}  // namespace lumbre
