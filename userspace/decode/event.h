// Event: what the kernel programs sent, as validated plain structs. Only decode/ sees raw bytes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bpf/abi/events.h"
#include "bpf/abi/waits.h"

namespace lumbre {

// One sample with all its pieces.
struct StackSample {
  lumbre_sample sample{};
  std::vector<std::uint64_t> kernel_stack;  // leaf first
  std::vector<lumbre_python_frame> python;  // leaf first, boundary entries included
  std::vector<lumbre_native_frame> native;  // leaf first, as walked in the kernel
  std::uint64_t stack_start = 0;            // address of stack[0]
  std::vector<std::byte> stack;             // the copied user stack; zeros in its holes
  // Address ranges inside it that could not be read.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> stack_holes;

  std::uint64_t bytes = 0;  // through the ring buffer

  std::uint64_t time_ns() const { return sample.header.time_ns; }
};

struct PythonCodeSeen {
  lumbre_python_code code{};
};
struct ProcessChanged {
  lumbre_process_record record{};
};
struct MarkerSeen {
  lumbre_marker marker{};
};

struct WaitEnded {
  lumbre_wait_record record{};
};
struct ThreadAccount {
  lumbre_thread_record record{};
};

using Event = std::variant<StackSample, PythonCodeSeen, ProcessChanged, MarkerSeen, WaitEnded,
                           ThreadAccount>;

}  // namespace lumbre
