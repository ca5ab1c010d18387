// Functions with known call chains, each ending in a capture of registers and stacks. Compiled
// without frame pointers and with AVX2, as numeric libraries are.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bpf/abi/tables.h"
#include "symbolizer/dwarf/expression.h"

namespace lumbre {

// A moment of a thread: registers, copies of its stacks, and what libgcc's unwinder says.
struct Capture {
  lumbre_registers registers{};
  std::map<std::uint64_t, std::string> stacks;  // by start address
  std::vector<std::uint64_t> backtrace;         // of the function that `registers` belong to
};

class CapturedStacks : public StackReader {
 public:
  explicit CapturedStacks(const Capture& capture) : capture_(capture) {}
  bool read_word(std::uint64_t address, std::uint64_t& value) override {
    for (const auto& [start, bytes] : capture_.stacks) {
      if (address >= start && address - start + sizeof(value) <= bytes.size()) {
        std::memcpy(&value, bytes.data() + (address - start), sizeof(value));
        return true;
      }
    }
    return false;
  }

 private:
  const Capture& capture_;
};

Capture capture_nested(int depth);
Capture capture_in_qsort_callback();
Capture capture_in_signal_handler(bool on_alternate_stack);
Capture capture_in_realigned_function();
Capture capture_in_thread();

}  // namespace lumbre
