// What bpf/core/native_step.h asks of its surroundings, in user space: words come from a
// StackReader. Found through the include path of cfi_step.cc alone.
#pragma once

#include "bpf/abi/types.h"
#include "symbolizer/dwarf/expression.h"

struct lumbre_stack_reader {
  lumbre::StackReader* stack;
};

inline int lumbre_read_stack_word(lumbre_stack_reader* reader, __u64 address, __u64* value) {
  std::uint64_t word = 0;
  if (!reader->stack->read_word(address, word)) {
    return -1;
  }
  *value = word;
  return 0;
}
