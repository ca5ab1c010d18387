/* What a native walk keeps from one frame to the next. */
#ifndef LUMBRE_CORE_NATIVE_SCRATCH_H
#define LUMBRE_CORE_NATIVE_SCRATCH_H

#include "bpf/core/native_step.h"
#include "bpf/core/record.h"

struct native_scratch {
  struct lumbre_stack_reader reader; /* first: lumbre_platform.h finds it there */
  struct lumbre_registers registers;
  struct lumbre_native_process process;
  __u32 filled; /* entries in the chunk */
  __u32 frames;
  __u32 chunks;
  __u32 misses;
  __u32 end;
  __u32 is_instruction; /* rip is one, not a return address */
};

#ifdef LUMBRE_CLASSIC
LUMBRE_STATIC_ASSERT(__builtin_offsetof(struct native_scratch, reader) == 0, "reader");

struct native_memory {
  struct native_scratch scratch;
  struct capture capture;
};
LUMBRE_STATIC_ASSERT(sizeof(struct native_memory) <= LUMBRE_WALK_MEMORY_BYTES, "memory");
#endif

#endif
