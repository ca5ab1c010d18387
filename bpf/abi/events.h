/* The records that cross the ring buffer, kernel to user space: the exact bytes.
 *
 * One sample is several records: the sample itself, which says how many pieces belong to it, then
 * its pieces (kernel stack, Python frames, copied user stack). All carry the sample's time and CPU,
 * which together are its identity; pieces of samples on other CPUs may lie between. A piece that
 * found no room is missing from the count and named in the sample's `*_end`; a sample that found
 * no room is counted in counters.h. */
#ifndef LUMBRE_ABI_EVENTS_H
#define LUMBRE_ABI_EVENTS_H

#include "bpf/abi/limits.h"
#include "bpf/abi/tables.h"
#include "bpf/abi/types.h"

enum lumbre_record_kind {
  LUMBRE_RECORD_SAMPLE = 1,
  LUMBRE_RECORD_KERNEL_STACK = 2,
  LUMBRE_RECORD_STACK_CHUNK = 3,
  LUMBRE_RECORD_PYTHON_CHUNK = 4,
  LUMBRE_RECORD_PYTHON_CODE = 5,
  LUMBRE_RECORD_PROCESS = 6,
  LUMBRE_RECORD_MARKER = 7,
  LUMBRE_RECORD_NATIVE_CHUNK = 8,
  LUMBRE_RECORD_WAIT = 9,   /* bpf/abi/waits.h */
  LUMBRE_RECORD_THREAD = 10,
};

struct lumbre_record_header {
  __u16 version; /* LUMBRE_ABI_VERSION */
  __u16 kind;    /* enum lumbre_record_kind */
  __u32 cpu;
  __u64 time_ns; /* CLOCK_MONOTONIC */
};

/* Who was running. `visible` ids are those of Lumbre's own PID namespace (0: not visible there),
 * `host` ids those of the initial one. */
struct lumbre_task {
  __u32 host_pid; /* thread group id */
  __u32 host_tid;
  __u32 visible_pid;
  __u32 visible_tid;
  __u64 address_space; /* changes with exec, differs between a process and its fork */
  char thread_name[LUMBRE_COMM_BYTES];
  char process_name[LUMBRE_COMM_BYTES];
};

/* What a sample measures; the contract's EVENT. */
enum lumbre_event {
  LUMBRE_EVENT_CPU = 1,
  LUMBRE_EVENT_OFFCPU = 2,
  LUMBRE_EVENT_NET = 3,
  LUMBRE_EVENT_DISK = 4,
  LUMBRE_EVENT_COUNT
};

enum lumbre_sample_flag {
  LUMBRE_SAMPLE_USER_REGISTERS = 1, /* `registers` are the user-mode ones */
  LUMBRE_SAMPLE_IN_KERNEL = 2,      /* the sample hit kernel mode */
  LUMBRE_SAMPLE_KERNEL_THREAD = 4,
  LUMBRE_SAMPLE_32BIT = 8,          /* user mode in a 32-bit code segment */
  LUMBRE_SAMPLE_CHECKED = 16,       /* walked whole and copied all the same, to compare the two */
  LUMBRE_SAMPLE_LOOKED = 32,        /* of a task that waits: user space reads its stacks */
  LUMBRE_SAMPLE_WAKER = 64,         /* of what ended the wait `key` of the thread `weight` (host tid) */
};

/* How the walk of the native frames in the kernel ended. Whatever is not the root has the stack
 * copied, for user space to walk. */
#define LUMBRE_WALK_ENDS(X)                                                                     \
  X(NOT_LOADED, "not_loaded", "the process's code ranges were not loaded yet, or have changed")   \
  X(ROOT, "root", "complete")                                                                     \
  X(NO_RANGE, "no_range", "code outside the files with unwind rows")                              \
  X(NO_PAGE, "no_page", "unwind rows not loaded yet")                                             \
  X(NO_RULE, "no_rule", "no simple unwind rule at this place")                                    \
  X(FAULT, "fault", "a stack page was not readable from the kernel program")                      \
  X(BROKEN, "broken", "the unwind rule does not fit the stack")                                   \
  X(LIMIT, "limit", "more frames than are walked in the kernel")                                  \
  X(NO_ROOM, "no_room", "ring buffer full")

enum lumbre_walk_end {
#define LUMBRE_WALK_END_ENUM(id, name, text) LUMBRE_WALK_##id,
  LUMBRE_WALK_ENDS(LUMBRE_WALK_END_ENUM)
#undef LUMBRE_WALK_END_ENUM
  LUMBRE_WALK_END_COUNT
};

/* Why the copy of the user stack ended. */
enum lumbre_stack_end {
  LUMBRE_STACK_WHOLE = 0,    /* reached the stack's top */
  LUMBRE_STACK_FAULT = 1,    /* too many pages were not readable from here */
  LUMBRE_STACK_LIMIT = 2,    /* longer than the copy may be */
  LUMBRE_STACK_NO_ROOM = 3,  /* ring buffer full */
  LUMBRE_STACK_NONE = 4,     /* no user stack (kernel thread) */
};

/* Why the walk of the Python frames ended. */
enum lumbre_python_end {
  LUMBRE_PYTHON_NONE = 0,        /* no Python known in this process */
  LUMBRE_PYTHON_ROOT = 1,        /* complete */
  LUMBRE_PYTHON_NO_THREAD = 2,   /* this thread runs no Python (no thread state) */
  LUMBRE_PYTHON_FAULT = 3,       /* a page was not readable from here */
  LUMBRE_PYTHON_NOT_A_FRAME = 4, /* what should be a code object is none */
  LUMBRE_PYTHON_LIMIT = 5,       /* deeper than the walk may be */
  LUMBRE_PYTHON_NO_ROOM = 6,     /* ring buffer full */
};

struct lumbre_sample {
  struct lumbre_record_header header;
  struct lumbre_task task;
  __u32 event;       /* enum lumbre_event */
  __u32 probability; /* of having been taken, in units of 1/(2^32-1) */
  __u64 weight;      /* in the event's unit (cpu: nanoseconds, or cycles), before division by probability */
  __u32 flags;       /* enum lumbre_sample_flag */
  __u32 kernel_frames;
  __u32 stack_chunks;
  __u32 stack_end; /* enum lumbre_stack_end */
  __u32 python_frames; /* entries over all chunks, boundary entries included */
  __u32 python_chunks;
  __u32 python_end; /* enum lumbre_python_end */
  __u32 native_frames; /* over all chunks; only if native_end is LUMBRE_WALK_ROOT */
  __u32 native_chunks;
  __u32 native_end; /* enum lumbre_walk_end */
  __s32 system_call; /* in kernel mode: orig_ax, the number of the system call if it is one; else -1 */
  __u32 wait;        /* offcpu: enum lumbre_wait */
  __u64 key;         /* offcpu: since when the thread waits, which identifies the wait */
  __u64 thread_pointer; /* pthread_self() of glibc and musl: the FS base */
  __u64 exec_pages; /* mm_struct.exec_vm: pages of executable mappings at this moment */
  __u64 stack_top; /* where the stack is known to end; 0: unknown */
  struct lumbre_registers registers;
};

struct lumbre_kernel_stack {
  struct lumbre_record_header header;
  __u64 address[LUMBRE_MAX_KERNEL_FRAMES]; /* leaf first */
};

struct lumbre_native_frame {
  __u64 pc; /* an instruction in the leaf and in what a signal interrupted, else a return address */
  __u64 sp;
};
#define LUMBRE_NATIVE_PC_INSTRUCTION_BIT 63 /* set in pc */

struct lumbre_native_chunk {
  struct lumbre_record_header header;
  __u32 count;
  __u32 index;
  struct lumbre_native_frame frame[LUMBRE_NATIVE_CHUNK_FRAMES]; /* leaf first */
};

struct lumbre_stack_chunk {
  struct lumbre_record_header header;
  __u64 address;
  __u32 size_bytes;
  __u32 index;
  __u8 bytes[LUMBRE_STACK_CHUNK_BYTES];
};

/* One Python frame, or (code == 0) the end of one eval call. */
struct lumbre_python_frame {
  __u64 code;        /* address of the code object */
  __u64 instruction; /* f_lasti, prev_instr or instr_ptr as it stands in the frame */
  __u64 boundary;    /* not 0: the last frame of its eval call; an address in the native stack frame
                        of that call (3.11: the _PyCFrame, 3.12+: the shim frame; before: 1) */
  __u64 check;       /* tells the code object from a later one at its address */
};

struct lumbre_python_chunk {
  struct lumbre_record_header header;
  __u32 count;
  __u32 index;
  struct lumbre_python_frame frame[LUMBRE_PYTHON_CHUNK_FRAMES];
};

/* A code object, sent when it is first seen: names survive the process. */
struct lumbre_python_code {
  struct lumbre_record_header header;
  __u64 address_space;
  __u64 code;
  __u64 check;
  __u32 pid; /* visible */
  __u32 first_line;
  __u32 version; /* of the layout */
  __u32 name_bytes; /* in name[]; 0 with a failed read */
  __u32 name_kind;  /* bytes per code point: 1, 2, 4; 0: ASCII */
  __u32 name_total_bytes;
  __u32 filename_bytes;
  __u32 filename_kind;
  __u32 filename_total_bytes;
  __u32 line_table_bytes;
  __u32 line_table_total_bytes;
  __u32 padding;
  __u8 name[LUMBRE_CODE_TEXT_BYTES];
  __u8 filename[LUMBRE_CODE_TEXT_BYTES];
  __u8 line_table[LUMBRE_CODE_LINE_TABLE_BYTES];
};

enum lumbre_process_change { LUMBRE_PROCESS_FORK = 1, LUMBRE_PROCESS_EXEC, LUMBRE_PROCESS_EXIT };

struct lumbre_process_record {
  struct lumbre_record_header header;
  struct lumbre_task task; /* fork: the child; exec, exit: the process */
  __u32 change;            /* enum lumbre_process_change */
  __u32 parent_visible_pid;
  __u64 parent_address_space;
};

/* The begin or end of something that has a name: a step, a region, a collective, a collection. */
struct lumbre_marker {
  struct lumbre_record_header header;
  struct lumbre_task task;
  __u32 is_begin;
  __u32 kind;  /* given by the program that emits it */
  __u64 key;   /* pairs a begin with its end */
  __u64 value;
  char name[LUMBRE_MARKER_NAME_BYTES];
};

LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_record_header) == 16, "header");
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_task) == 56, "task");
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_sample) == 16 + 56 + 16 + 48 + 32 + 144, "sample");
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_python_frame) == 32, "python frame");
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_python_code) == 16 + 24 + 48 + 512 + 2048, "code");

#endif
