// JitStep: from a frame without unwind data (code made at run time, or code in a file that no table
// covers) to its caller.
//
// In this order: the unwind data of a jitdump; the path that the machine code itself takes to its
// return; a frame pointer. Each answer is checked: a call stands before the return address, which
// lies in code, and the stack only shrinks. Where more than one caller fits, the answer is marked
// as a guess, and where none does there is none. Code is read from the live process and what was
// learnt of it kept for a short time only, because it changes. One thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbolizer/dwarf/expression.h"
#include "symbolizer/jit/return_path.h"
#include "userspace/process/jit_codes.h"
#include "userspace/process/process_table.h"

namespace lumbre {

class JitStep {
 public:
  enum class Outcome { kNone, kProven, kGuess };

  static constexpr std::size_t kMaxProcesses = 64;  // whose code is kept

  JitStep(ProcessTable& processes, JitCodes& codes);
  ~JitStep();

  struct Place {
    const Process& process;
    std::uint64_t pc = 0;      // of an instruction, or a return address
    bool is_leaf_like = true;  // pc is an instruction
    std::uint64_t time_ns = 0;
  };
  // Changes the registers only where there is an answer.
  Outcome step(const Place& place, lumbre_registers& registers, StackReader& stack);

  // Whether the address is in code that this process has, and a call ends before it.
  bool is_return_address(const Place& place, std::uint64_t address);

  // Return addresses on the stack above rsp that code made at run time may have been called from:
  // behind an indirect call in a file that has unwind data. The nearest first; a guess each.
  std::vector<lumbre_registers> possible_callers(const Place& place,
                                                 const lumbre_registers& registers,
                                                 StackReader& stack);

 private:
  // V8's code keeps rbp chained, all of it, its built-in functions included. HotSpot's interpreter
  // keeps rbp in its own frames; its compiled code does not.
  enum class Runtime : std::uint8_t { kOther, kV8, kHotSpot };
  struct Code;

  Code& code_of(const Place& place);
  bool step_by_interpreter_frame(const Place& place, lumbre_registers& registers,
                                 StackReader& stack);
  bool is_within_budget(const Place& place);
  std::optional<ReturnRule> find_path(Code& code, std::uint64_t pc);
  bool step_by_path(const Place& place, lumbre_registers& registers, StackReader& stack);
  Outcome step_by_frame_pointer(const Place& place, lumbre_registers& registers,
                                StackReader& stack);
  bool has_other_callers(const Place& place, std::uint64_t from, std::uint64_t to,
                         StackReader& stack);
  Runtime runtime_of(const Place& place);
  Runtime runtime_in(ModuleId module);

  ProcessTable& processes_;
  JitCodes& codes_;
  std::unordered_map<ModuleId, Runtime> runtimes_;
  std::uint64_t first_time_ns_ = 0;
  std::uint64_t spent_ns_ = 0;  // in following code, of Lumbre's own time
  std::list<std::unique_ptr<Code>> code_;  // the one used last first
};

}  // namespace lumbre
