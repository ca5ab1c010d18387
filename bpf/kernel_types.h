/* The few kernel structs that the programs look into, as CO-RE subsets: only the fields used, at
 * offsets that libbpf takes from the running kernel's BTF when it loads the object. */
#ifndef LUMBRE_KERNEL_TYPES_H
#define LUMBRE_KERNEL_TYPES_H

#include "bpf/abi/types.h"

struct lumbre_pt_regs;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
  unsigned int inum; /* the number in /proc/PID/ns/pid */
};

struct pid_namespace {
  struct ns_common ns;
};

struct upid {
  int nr;
  struct pid_namespace *ns;
};

struct pid {
  unsigned int level;
  struct upid numbers[];
};

struct mm_struct {
  unsigned long start_stack; /* where the main thread's stack begins; arguments lie above */
  unsigned long exec_vm;     /* pages of executable mappings */
};

struct signal_live {
  int counter;
};

struct signal_struct {
  struct signal_live live; /* atomic_t: threads not yet exited */
};

struct thread_struct {
  unsigned long fsbase; /* x86-64: the thread pointer */
};

struct task_struct {
  unsigned int flags; /* PF_KTHREAD */
  int pid;
  int tgid;
  struct mm_struct *mm;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct signal_struct *signal;
  unsigned long long start_time;
  unsigned long long self_exec_id; /* incremented by each exec; 64-bit since 5.7 */
  unsigned long sas_ss_sp; /* sigaltstack(2) */
  unsigned long sas_ss_size;
  char comm[16];
  struct thread_struct thread;
};

/* What the context of a perf_event program really is. */
struct bpf_perf_event_data_kern {
  const struct lumbre_pt_regs *regs;
};

#pragma clang attribute pop

#define PF_KTHREAD 0x00200000

/* struct pt_regs of x86-64 (arch/x86/include/asm/ptrace.h): a fixed layout, part of the user ABI. */
struct lumbre_pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
      flags, sp, ss;
};

#endif
