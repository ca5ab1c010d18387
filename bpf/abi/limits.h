/* Every number that the kernel programs and user space both rely on. */
#ifndef LUMBRE_ABI_LIMITS_H
#define LUMBRE_ABI_LIMITS_H

#define LUMBRE_ABI_VERSION 1

/* perf_event_max_stack's default; deeper kernel stacks end in a truncation mark. */
#define LUMBRE_MAX_KERNEL_FRAMES 127

/* The user stack is copied in pieces of one page, from the stack pointer towards the root. */
#define LUMBRE_STACK_CHUNK_BYTES 4096
#define LUMBRE_MAX_STACK_CHUNKS 128
/* Pages of it that may be unreadable (large local arrays that were never touched). */
#define LUMBRE_MAX_STACK_HOLES 256

/* The walk in the kernel reads the stack in blocks of this size, a power of two. */
#define LUMBRE_STACK_WINDOW_BYTES 1024

/* Frames walked in the kernel; deeper stacks are copied. */
#define LUMBRE_NATIVE_CHUNK_FRAMES 32
#define LUMBRE_MAX_NATIVE_CHUNKS 16

/* Unwind rows are loaded by pages of this many bytes of a file's image. */
#define LUMBRE_PAGE_SHIFT 14
#define LUMBRE_MAX_PAGES 16384
#define LUMBRE_MAX_ROWS (1 << 19) /* over all pages */
#define LUMBRE_MAX_RULES (1 << 14) /* distinct ones; they have to fit 16 bits */
#define LUMBRE_MAX_CODE_RANGES (1 << 15) /* over all processes */
#define LUMBRE_MAX_PROCESS_RANGES (1 << 15)
#define LUMBRE_RULE_CACHE_BITS 16

#define LUMBRE_PYTHON_CHUNK_FRAMES 32
#define LUMBRE_MAX_PYTHON_CHUNKS 32
#define LUMBRE_MAX_PYTHON_FRAMES (LUMBRE_PYTHON_CHUNK_FRAMES * LUMBRE_MAX_PYTHON_CHUNKS)

/* Thread states looked at to find the one of a thread not seen before. */
#define LUMBRE_MAX_THREAD_STATES 512

/* Taken for the mean of waits while none is known. */
#define LUMBRE_FIRST_MEAN_NS 1000000

/* Low bits of an address space's number that count the process's execs. */
#define LUMBRE_EXEC_ID_BITS 12

#define LUMBRE_COMM_BYTES 16
#define LUMBRE_CODE_TEXT_BYTES 256
#define LUMBRE_CODE_LINE_TABLE_BYTES 2048
#define LUMBRE_MARKER_NAME_BYTES 64

/* Registers by their DWARF number (System V x86-64 ABI, figure 3.36); 16 is the return address,
 * which in a register set stands for the instruction pointer. */
#define LUMBRE_REGISTER_COUNT 17

#endif
