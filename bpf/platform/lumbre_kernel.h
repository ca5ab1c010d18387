/* What kernels differ in, behind one set of names. The kernel programs are compiled twice from the
 * same sources; user space loads those that the running kernel takes.
 *
 * With LUMBRE_CLASSIC they ask for no more than Linux 5.10 has. What stands in for what is missing:
 *   typed pointers to the current task (5.11)          reads by helper, at offsets from BTF
 *   memory as an argument of global functions (5.13)   global functions of numbers, which find their
 *                                                      memory in a per-CPU map
 *   bpf_task_pt_regs (5.15)                            the registers at the top of the kernel stack
 *   bpf_loop (5.17)                                    loops that the verifier follows turn by turn
 *
 * The per-CPU memory has one user at a time: perf_event programs do not interrupt each other on a CPU
 * (bpf_prog_active in the kernel's bpf_overflow_handler). A program of another type must not walk
 * stacks in the classic build. */
#ifndef LUMBRE_PLATFORM_KERNEL_H
#define LUMBRE_PLATFORM_KERNEL_H

#include <bpf/bpf_core_read.h>

#include "bpf/kernel_types.h"
#include "bpf/maps.h"

/* The verifier goes through a global function once, and through any other at each call. */
#define LUMBRE_GLOBAL __weak __attribute__((noinline))

#ifdef LUMBRE_CLASSIC

#define LUMBRE_READ(pointer, field) BPF_CORE_READ(pointer, field)

#define LUMBRE_LOOP(turns, callback, context)                                            \
  do {                                                                                   \
    _Pragma("clang loop unroll(disable)") for (__u32 turn = 0; turn < (turns); turn++) { \
      if (callback(turn, context)) {                                                     \
        break;                                                                           \
      }                                                                                  \
    }                                                                                    \
  } while (0)

static __always_inline struct task_struct *lumbre_current_task(void) {
  return (struct task_struct *)bpf_get_current_task();
}

/* The memory of the walk that is going on; what it is used as is for the walk to say. */
static __always_inline void *lumbre_find_walk_memory(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&walk_memory, &zero);
}

#define LUMBRE_USER_SEGMENT_MASK 0xffff
#define LUMBRE_USER_CODE_64 0x33
#define LUMBRE_USER_CODE_32 0x23
#define LUMBRE_USER_DATA 0x2b

/* The user registers stand at the top of the kernel stack: THREAD_SIZE less
 * TOP_OF_KERNEL_STACK_PADDING (arch/x86/include/asm/thread_info.h), which BTF does not tell. They
 * are where the segments of user mode are. */
static __always_inline int lumbre_read_entry_registers(struct task_struct *task,
                                                       struct lumbre_pt_regs *registers) {
  const __u64 sizes[] = {16384, 16384 - 16, 32768, 32768 - 16}; /* FRED pads, KASAN doubles */
  __u64 stack = (__u64)LUMBRE_READ(task, stack);
#pragma clang loop unroll(full)
  for (__u32 i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    const void *place = (const void *)(stack + sizes[i] - sizeof(*registers));
    if (bpf_probe_read_kernel(registers, sizeof(*registers), place)) {
      continue;
    }
    __u64 code = registers->cs & LUMBRE_USER_SEGMENT_MASK;
    if ((registers->ss & LUMBRE_USER_SEGMENT_MASK) == LUMBRE_USER_DATA &&
        (code == LUMBRE_USER_CODE_64 || code == LUMBRE_USER_CODE_32)) {
      return 0;
    }
  }
  return -1;
}

#else

#define LUMBRE_READ(pointer, field) ((pointer)->field)

#define LUMBRE_LOOP(turns, callback, context) bpf_loop(turns, callback, context, 0)

static __always_inline struct task_struct *lumbre_current_task(void) {
  return bpf_get_current_task_btf();
}

/* Of the current task. */
static __always_inline int lumbre_read_entry_registers(struct task_struct *task,
                                                       struct lumbre_pt_regs *registers) {
  const void *place = (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
  return bpf_probe_read_kernel(registers, sizeof(*registers), place);
}

#endif
#endif
