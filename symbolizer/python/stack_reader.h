// A thread's Python stack out of another process's memory: the kernel programs' walk done in user
// space, as their oracle and for `stacks`. The target is not stopped, so a stack of a running
// thread can be torn; each code object's type is checked, and a chain that leads elsewhere is an
// error. Any thread. Cost: a few reads of the target's memory per frame.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf/abi/tables.h"
#include "symbolizer/base/result.h"
#include "symbolizer/procfs/memory.h"

namespace lumbre {

struct PythonFrameRecord {
  std::uint64_t code_address = 0;     // PyCodeObject, tags removed
  std::uint64_t raw_instruction = 0;  // see instruction_offset()
  std::uint64_t frame_address = 0;    // PyFrameObject or _PyInterpreterFrame
  // The last frame of its call of the eval function. From 3.11 on `boundary_address` is inside
  // that call's native stack frame (3.11: its _PyCFrame; 3.12+: its shim frame); 0 before 3.11,
  // where every frame is one call.
  bool is_boundary = false;
  std::uint64_t boundary_address = 0;
};

// Leaf first. `thread_id` is the thread's pthread_self(). kNotFound: no such thread has a Python
// state. A thread that runs no Python code just now has an empty stack.
Result<std::vector<PythonFrameRecord>> walk_thread(const ProcessMemory& memory,
                                                   const lumbre_python_process& process,
                                                   std::uint64_t thread_id);

// The thread ids of all thread states of all interpreters, newest first per interpreter; an id is
// twice there if a thread serves two interpreters.
Result<std::vector<std::uint64_t>> list_threads(const ProcessMemory& memory,
                                                const lumbre_python_process& process);

}  // namespace lumbre
