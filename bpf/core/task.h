/* Who is running, and as whom it is known. Tasks are typed kernel pointers (BTF) where the kernel has
 * them, whose fields are loaded without a helper call: a sample reads about twenty of them. */
#ifndef LUMBRE_CORE_TASK_H
#define LUMBRE_CORE_TASK_H

#include "bpf/platform/lumbre_kernel.h"

#define LUMBRE_MAX_NAMESPACE_DEPTH 8

/* The task's number in Lumbre's own PID namespace; 0 when it is not visible there. */
static __always_inline __u32 visible_number(struct task_struct *task) {
  if (config.pid_namespace_inode == 0) {
    return LUMBRE_READ(task, pid);
  }
  struct pid *pid = LUMBRE_READ(task, thread_pid);
  __u32 level = BPF_CORE_READ(pid, level);
  for (__u32 i = 0; i < LUMBRE_MAX_NAMESPACE_DEPTH; i++) {
    if (i > level) {
      break;
    }
    struct upid number;
    bpf_core_read(&number, sizeof(number), &pid->numbers[i]);
    if (BPF_CORE_READ(number.ns, ns.inum) == config.pid_namespace_inode) {
      return number.nr;
    }
  }
  return 0;
}

static __always_inline __u64 address_space_of(struct task_struct *task) {
  struct task_struct *leader = LUMBRE_READ(task, group_leader);
  /* Nanoseconds since boot tell processes apart, the count of execs tells images apart. */
  return (LUMBRE_READ(leader, start_time) << LUMBRE_EXEC_ID_BITS) |
         (LUMBRE_READ(task, self_exec_id) & ((1 << LUMBRE_EXEC_ID_BITS) - 1));
}

/* TASK_RUNNING (0) and so on (include/linux/sched.h). */
static __always_inline __u32 task_state(struct task_struct *task) {
  if (bpf_core_field_exists(task->__state)) {
    return task->__state;
  }
  return BPF_CORE_READ((struct task_struct___5_10 *)task, state);
}

static __always_inline void read_task(struct task_struct *task, struct lumbre_task *out) {
  struct task_struct *leader = LUMBRE_READ(task, group_leader);
  out->host_pid = LUMBRE_READ(task, tgid);
  out->host_tid = LUMBRE_READ(task, pid);
  out->visible_pid = visible_number(leader);
  out->visible_tid = visible_number(task);
  out->address_space = address_space_of(task);
  bpf_core_read(&out->thread_name, sizeof(out->thread_name), &task->comm);
  bpf_core_read(&out->process_name, sizeof(out->process_name), &leader->comm);
}

static __always_inline int is_in_scope(struct task_struct *task) {
  if (config.is_whole_machine) {
    return 1;
  }
  __u32 pid = visible_number(LUMBRE_READ(task, group_leader));
  return bpf_map_lookup_elem(&targets, &pid) != 0;
}

#endif
