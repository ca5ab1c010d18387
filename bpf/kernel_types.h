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

struct inode {
  unsigned short i_mode;
  unsigned long i_ino;
  unsigned int i_rdev;
};

struct file {
  struct inode *f_inode;
};

struct fdtable {
  unsigned int max_fds;
  struct file **fd;
};

struct files_struct {
  struct fdtable *fdt;
};

struct thread_struct {
  unsigned long fsbase; /* x86-64: the thread pointer */
};

struct sched_entity {
  unsigned long long sum_exec_runtime; /* nanoseconds on a CPU, up to the last switch or tick */
};

struct task_struct {
  unsigned int flags; /* PF_KTHREAD */
  int pid;
  int tgid;
  void *stack; /* its lowest address, in the kernel */
  struct mm_struct *mm;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct signal_struct *signal;
  unsigned long long start_time;
  unsigned long long self_exec_id; /* incremented by each exec; 64-bit since 5.7 */
  unsigned long sas_ss_sp; /* sigaltstack(2) */
  unsigned long sas_ss_size;
  char comm[16];
  struct files_struct *files;
  unsigned int __state; /* named `state` before 5.14 */
  unsigned in_iowait : 1;
  struct sched_entity se;
  int on_cpu;
  struct thread_struct thread;
};

struct task_struct___5_10 {
  long state;
};

/* The context of a program run for each task by a BPF iterator. */
struct bpf_iter__task {
  struct task_struct *task; /* null after the last one */
};

/* What the context of a perf_event program really is. */
struct bpf_perf_event_data_kern {
  const struct lumbre_pt_regs *regs;
};

#pragma clang attribute pop

#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000 /* since 6.4 */
#define PF_KTHREAD 0x00200000

/* include/linux/sched.h */
#define TASK_STOPPED 0x4
#define TASK_TRACED 0x8
#define TASK_DEAD 0x80

/* struct pt_regs of x86-64 (arch/x86/include/asm/ptrace.h): a fixed layout, part of the user ABI. */
struct lumbre_pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
      flags, sp, ss;
};

#endif
