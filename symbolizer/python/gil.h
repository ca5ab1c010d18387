// Where the interpreter lock of a process is (struct _gil_runtime_state of its main interpreter,
// cpython/Include/internal/pycore_gil.h): threads that want it wait on its condition and its mutex,
// so the address that a futex call waits on says whether it is the lock. Any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "bpf/abi/tables.h"
#include "symbolizer/procfs/memory.h"

namespace lumbre {

struct GilPlace {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
};

// None where the version is not known to have it in a known place. Sub-interpreters with a lock of
// their own (3.12+) are not looked for.
std::optional<GilPlace> find_gil(const ProcessMemory& memory, const lumbre_python_process& process);

}  // namespace lumbre
