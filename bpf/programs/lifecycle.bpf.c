// Processes begin, change their image and end: keeps the scope and the Python table in step, at
// once, so that the first sample of a child is in scope and has its Python frames.
#include "bpf/core/record.h"
#include "bpf/core/task.h"

#include <bpf/bpf_tracing.h>

static __always_inline void send_process(struct task_struct *task, __u32 change,
                                         struct task_struct *parent) {
  struct capture capture;
  start_capture(&capture);
  struct lumbre_process_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count(LUMBRE_COUNTER_PROCESS_NO_ROOM);
    return;
  }
  fill_header(&record->header, LUMBRE_RECORD_PROCESS, &capture);
  read_task(task, &record->task);
  record->change = change;
  record->parent_visible_pid = 0;
  record->parent_address_space = 0;
  if (parent) {
    record->parent_visible_pid = visible_number(parent->group_leader);
    record->parent_address_space = address_space_of(parent);
  }
  bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

/* A child has its parent's memory, so what was found there holds. */
static __always_inline void inherit_tables(__u32 parent, __u32 child) {
  struct lumbre_python_process *python = bpf_map_lookup_elem(&python_processes, &parent);
  if (python) {
    bpf_map_update_elem(&python_processes, &child, python, BPF_ANY);
  }
  struct lumbre_native_process *native = bpf_map_lookup_elem(&native_processes, &parent);
  if (native) {
    bpf_map_update_elem(&native_processes, &child, native, BPF_ANY);
  }
}

static __always_inline void forget_tables(__u32 pid) {
  bpf_map_delete_elem(&python_processes, &pid);
  bpf_map_delete_elem(&native_processes, &pid);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(lumbre_process_fork, struct task_struct *parent, struct task_struct *child) {
  if (parent->tgid == child->tgid || !is_in_scope(parent) ||
      !config.follows_children) {
    return 0;
  }
  __u32 pid = visible_number(child);
  __u32 one = 1;
  if (!config.is_whole_machine && bpf_map_update_elem(&targets, &pid, &one, BPF_ANY)) {
    count(LUMBRE_COUNTER_TARGETS_FULL);
  }
  inherit_tables(visible_number(parent->group_leader), pid);
  send_process(child, LUMBRE_PROCESS_FORK, parent);
  return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(lumbre_process_exec, struct task_struct *task) {
  __u32 pid = visible_number(task->group_leader);
  forget_tables(pid);
  if (is_in_scope(task)) {
    send_process(task, LUMBRE_PROCESS_EXEC, 0);
  }
  return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(lumbre_process_exit, struct task_struct *task) {
  if (task->signal->live.counter != 0 || !is_in_scope(task)) {
    return 0;
  }
  __u32 pid = visible_number(task->group_leader);
  send_process(task, LUMBRE_PROCESS_EXIT, 0);
  forget_tables(pid);
  bpf_map_delete_elem(&targets, &pid);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
