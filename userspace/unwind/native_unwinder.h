// NativeUnwinder: the native frames of one sample, from its registers and its copied stack, by
// call frame information; where code has none, by rules found from its instructions, and in code
// made at run time as JitStep finds it. Every use of those is verified: a call stands before the
// return address, and the walk reaches the root. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bpf/core/native_step_result.h"
#include "userspace/decode/event.h"
#include "userspace/process/process_table.h"
#include "userspace/unwind/jit_step.h"

namespace lumbre {

// Why a native walk ended short of the root; the sentence goes into "[truncated: ...]".
#define LUMBRE_NATIVE_ENDS(X)                             \
  X(kRoot, "")                                            \
  X(kNoUserStack, "")                                     \
  X(kNoMapping, "code outside every mapping")             \
  X(kJitCode, "code made at run time")                    \
  X(kUnreadableFile, "file not readable")                 \
  X(kNoUnwindData, "no unwind data")                      \
  X(kUnsupportedRule, "unwind rule not supported")        \
  X(kStackNotReadable, "stack page not readable")         \
  X(kStackTooLong, "stack longer than the copy")          \
  X(kRingBufferFull, "ring buffer full")                  \
  X(kBrokenStack, "unwind data does not fit the stack")   \
  X(kTooManyFrames, "stack depth limit")                  \
  X(k32Bit, "32-bit code")                                \
  X(kProcessUnknown, "process gone before it was seen")   \
  X(kExecuting, "program being replaced by exec")         \
  X(kExiting, "process exiting, its memory already gone") \
  X(kNotVisible, "process outside Lumbre's PID namespace")

enum class NativeEnd : std::uint8_t {
#define LUMBRE_NATIVE_END_ENUM(id, text) id,
  LUMBRE_NATIVE_ENDS(LUMBRE_NATIVE_END_ENUM)
#undef LUMBRE_NATIVE_END_ENUM
};
const char* native_end_text(NativeEnd end);

struct NativeFrame {
  std::uint64_t pc = 0;         // of the instruction: return addresses are already less one
  std::uint64_t sp = 0;         // the frame's stack is [sp, cfa)
  std::uint64_t cfa = 0;        // 0: unknown (the last frame of a broken walk)
  ModuleId module = kNoModule;  // kNoModule: code without a file
  std::uint64_t address = 0;    // image address in the module, or the process address
};

struct NativeStack {
  std::vector<NativeFrame> frames;  // leaf first
  NativeEnd end = NativeEnd::kRoot;
  ModuleId end_module = kNoModule;  // where the walk broke off
  bool is_approximate = false;      // a caller was found by a rule that is a guess
};

// Where the frame stands: its instruction, or the call before its return address.
std::uint64_t instruction_address(const lumbre_native_frame& frame);

class NativeUnwinder {
 public:
  NativeUnwinder(ProcessTable& processes, JitCodes& codes, std::size_t max_frames);
  // Rewrites `stack`, so that its memory is used again for the next sample.
  void unwind(const StackSample& sample, NativeStack& stack);

 private:
  enum class RuleSource : std::uint8_t { kNone, kCfi, kProven, kGuess };
  struct CachedRule {
    std::uint64_t address = ~std::uint64_t{0};
    ModuleId module = kNoModule;
    RuleSource source = RuleSource::kNone;
    lumbre_unwind_rule rule{};
  };
  struct Walk;

  void take_kernel_walk(const StackSample& sample, Process& process, NativeStack& stack);
  void run(Walk& walk);
  bool step(Walk& walk);
  bool step_without_cfi(Walk& walk, const lumbre_unwind_rule& rule, RuleSource source);
  bool step_by_synthesised(Walk& walk, const lumbre_unwind_rule& rule);
  bool is_at_return_address(const Walk& walk);
  void finish(Walk& walk);
  bool step_without_rule(Walk& walk, std::size_t frame);
  bool try_callers(Walk& walk, std::size_t frame);
  const CachedRule& find_rule(Module& module, ImageAddress address);
  std::optional<ProcessTable::Place> place_frame(Process& process, std::uint64_t time_ns,
                                                 NativeFrame& frame, NativeStack& stack);
  static NativeEnd end_of_failed_read(const Walk& walk);
  static NativeEnd end_of_step(const Walk& walk, lumbre_step_result result);

  ProcessTable& processes_;
  std::size_t max_frames_;
  JitStep without_rules_;
  std::vector<CachedRule> rules_;  // direct-mapped by address and module
};

}  // namespace lumbre
