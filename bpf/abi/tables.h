/* What user space writes for the kernel programs: unwind rules, and where a CPython keeps things.
 * Plain C, fixed layout; both sides compile this file. */
#ifndef LUMBRE_ABI_TABLES_H
#define LUMBRE_ABI_TABLES_H

#include "bpf/abi/limits.h"
#include "bpf/abi/types.h"

/* DWARF register numbers, x86-64. */
enum lumbre_register {
  LUMBRE_RAX = 0, LUMBRE_RDX = 1, LUMBRE_RCX = 2, LUMBRE_RBX = 3, LUMBRE_RSI = 4, LUMBRE_RDI = 5,
  LUMBRE_RBP = 6, LUMBRE_RSP = 7, LUMBRE_R8 = 8, LUMBRE_R9 = 9, LUMBRE_R10 = 10, LUMBRE_R11 = 11,
  LUMBRE_R12 = 12, LUMBRE_R13 = 13, LUMBRE_R14 = 14, LUMBRE_R15 = 15, LUMBRE_RIP = 16,
};

/* The registers of one frame. A register whose bit in `valid` is clear is unknown (a caller-saved
 * register above the leaf, or one that the rule calls undefined). */
struct lumbre_registers {
  __u64 value[LUMBRE_REGISTER_COUNT];
  __u32 valid; /* bit n: value[n] is known */
  __u32 padding;
};

/* How a frame's canonical frame address (the caller's stack pointer) is found. */
enum lumbre_cfa_kind {
  LUMBRE_CFA_NONE = 0,     /* no rule here: the walk cannot go on */
  LUMBRE_CFA_REGISTER = 1, /* CFA = register + cfa_offset */
  LUMBRE_CFA_DEREF = 2,    /* CFA = *(register + cfa_offset) + cfa_add; GCC's stack realignment */
  LUMBRE_CFA_PLT = 3,      /* CFA = rsp + cfa_offset + ((rip & 15) >= cfa_add ? 8 : 0); lazy PLT */
  LUMBRE_CFA_SIGNAL = 4,   /* registers are in the ucontext at rsp (CIE augmentation 'S') */
  LUMBRE_CFA_FULL = 5,     /* too rich for this form: use the whole CFI row, user space only */
};

/* One row of call frame information (DWARF 5, section 6.4) in 16 bytes.
 * A slot is a signed count of 8-byte words from the rule's base: the CFA, or the value of rbp
 * where LUMBRE_RULE_SAVED_BY_RBP is set (realigned frames save relative to the new rbp). */
#define LUMBRE_SLOT_SAME 0        /* the register keeps its value */
#define LUMBRE_SLOT_UNDEFINED 127 /* the caller's value is lost; for the return address: the root */

enum lumbre_rule_flag {
  LUMBRE_RULE_SAVED_BY_RBP = 1,   /* slots of saved[] count from rbp, not from the CFA; rbp's own
                                     slot 0 then means "saved at rbp", not LUMBRE_SLOT_SAME */
  LUMBRE_RULE_RA_IN_REGISTER = 2, /* the return address is in register `return_address` */
  LUMBRE_RULE_SAVED_BY_CFA = 4,   /* shifted left by i: saved[i] counts from the CFA all the same
                                     (GCC's realignment through r13 pushes r13 beforehand) */
};

enum lumbre_saved_register {
  LUMBRE_SAVED_RBX, LUMBRE_SAVED_RBP, LUMBRE_SAVED_R12, LUMBRE_SAVED_R13, LUMBRE_SAVED_R14,
  LUMBRE_SAVED_R15, LUMBRE_SAVED_COUNT
};

struct lumbre_unwind_rule {
  __u8 cfa_kind;     /* enum lumbre_cfa_kind */
  __u8 cfa_register; /* DWARF number */
  __s8 return_address; /* slot from the CFA (-1 nearly always), LUMBRE_SLOT_UNDEFINED, or a DWARF
                          register number with LUMBRE_RULE_RA_IN_REGISTER */
  __u8 flags;        /* enum lumbre_rule_flag */
  __s32 cfa_offset;
  __s8 saved[LUMBRE_SAVED_COUNT];
  __s16 cfa_add;
};
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_unwind_rule) == 16, "two rules per 32 bytes");

/* Unwind tables for the walk in the kernel: process -> its executable ranges -> the file's pages ->
 * rows -> rules. User space loads them as they are needed. */

/* One executable range of a process that shows a file with unwind rows. */
struct lumbre_code_range {
  __u64 start;
  __u64 end;
  __u64 bias; /* process address less image address */
  __u32 file; /* the module's number in user space */
  __u32 padding;
};
LUMBRE_STATIC_ASSERT(sizeof(struct lumbre_code_range) == 32, "range");

/* The ranges of one process: code_ranges[first_range ... ], sorted, disjoint. They hold as long as
 * the process has exec_pages pages of executable mappings (mm_struct.exec_vm); a forked child
 * shares them. */
struct lumbre_native_process {
  __u64 exec_pages;
  __u32 first_range;
  __u32 range_count;
  __u32 epoch; /* differs between any two sets of ranges: part of the rule cache's key */
  __u32 exec_id; /* low bits of task_struct.self_exec_id: no other image of the process */
};

struct lumbre_page_key {
  __u32 file;
  __u32 page; /* image address >> LUMBRE_PAGE_SHIFT */
};

struct lumbre_page {
  __u32 first_row;
  __u32 row_count; /* at least 1: the first row begins with the page */
};

/* In force from its address to the next row's. */
struct lumbre_unwind_row {
  __u16 address; /* offset in the page */
  __u16 rule;    /* index into unwind_rules; LUMBRE_NO_RULE: user space has to decide */
};
#define LUMBRE_NO_RULE 0

/* Array elements of the kernel are at least 8 bytes. */
#define LUMBRE_ROWS_PER_ELEMENT 2
struct lumbre_row_element {
  struct lumbre_unwind_row row[LUMBRE_ROWS_PER_ELEMENT];
};

/* Shapes that differ between CPython versions. */
enum lumbre_python_flag {
  LUMBRE_PYTHON_FRAME_OBJECTS = 1,  /* 3.8-3.10: PyFrameObject chain, one eval call per frame */
  LUMBRE_PYTHON_CFRAME = 2,         /* 3.11, 3.12: tstate->cframe->current_frame */
  LUMBRE_PYTHON_ENTRY_FLAG = 4,     /* 3.11: frame->is_entry marks the last frame of an eval call,
                                       whose _PyCFrame lies in that call's stack frame */
  LUMBRE_PYTHON_SHIM_FRAMES = 8,    /* 3.12+: a frame with owner >= owner_shim_minimum lies in the
                                       eval call's stack frame and marks its end */
};

/* Byte offsets into CPython's structs, from the version's table (3.8-3.12) or its own
 * _Py_DebugOffsets (3.13+). */
struct lumbre_python_layout {
  __u32 version; /* PY_VERSION_HEX >> 16: 0x030b is 3.11 */
  __u32 flags;   /* enum lumbre_python_flag */
  __u32 runtime_interpreters_head; /* in _PyRuntime */
  __u32 interpreter_next;          /* in PyInterpreterState */
  __u32 interpreter_threads_head;
  __u16 thread_next; /* in PyThreadState */
  __u16 thread_id;   /* pthread_self() of the thread; equals the FS base on x86-64 */
  __u16 thread_frame; /* frame, cframe or current_frame, by flags */
  __u16 cframe_current_frame;
  __u16 cframe_previous;
  __u16 frame_code; /* in PyFrameObject or _PyInterpreterFrame; all within the first 112 bytes */
  __u16 frame_back;
  __u16 frame_instruction; /* f_lasti, prev_instr or instr_ptr */
  __u16 frame_owner;       /* owner, or is_entry in 3.11 */
  __u16 owner_shim_minimum;
  __u16 code_first_line; /* in PyCodeObject; all within the first 144 bytes */
  __u16 code_filename;
  __u16 code_name; /* co_qualname where the version has it, else co_name */
  __u16 code_line_table;
  __u16 code_bytecode;  /* start of the instructions in the code object (3.11+), else 0 */
  __u16 frame_bytes;    /* to read of a frame so that all fields above are in it; at most 112 */
  __u16 unicode_state;  /* PyASCIIObject.state, a 32-bit word of bit-fields */
  __u16 unicode_kind_shift;  /* 3 bits: bytes per code point */
  __u16 unicode_ascii_shift; /* 1 bit */
  __u16 unicode_length; /* PyASCIIObject.length, in code points */
  __u16 unicode_ascii_data;
  __u16 unicode_compact_data;
  __u16 bytes_size; /* PyVarObject.ob_size */
  __u16 bytes_data;
  __u16 object_type; /* PyObject.ob_type */
  __u16 padding;
  __u64 executable_mask; /* clears the tag bits of f_executable (3.14: ~3) */
};

/* One process with a CPython in it. */
struct lumbre_python_process {
  __u64 runtime_address;   /* _PyRuntime in that process */
  __u64 code_type_address; /* PyCode_Type there: proves that a frame's code is a code object */
  __u64 gil_address; /* of the main interpreter's struct _gil_runtime_state; with ... */
  __u64 gil_bytes;   /* ... its size, which holds its condition and mutex; 0: unknown */
  struct lumbre_python_layout layout;
};

#endif
