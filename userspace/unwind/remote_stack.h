// RemoteStack: the user part of a sample of a thread that waits, read from outside of it.
//
// The kernel gave its registers and where its stack ends; the stack and the Python frames are read
// from the process's memory. Both lie still while the wait lasts; whether it lasted until they were
// read is for the caller to check afterwards. The target is not stopped. One thread.
#pragma once

#include <optional>

#include "bpf/abi/tables.h"
#include "symbolizer/procfs/memory.h"
#include "userspace/decode/event.h"

namespace lumbre {

// Adds the copy of the stack to the sample, and the Python frames where the process has a CPython.
void complete_from_memory(const ProcessMemory& memory,
                          const std::optional<lumbre_python_process>& python, StackSample& sample);

}  // namespace lumbre
