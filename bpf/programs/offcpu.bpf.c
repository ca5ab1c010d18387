// Waiting: the account of every thread in scope, at every switch, and a sample of the stacks that
// waited.
#include "bpf/core/thread_account.h"

#include <bpf/bpf_tracing.h>

/* Takes the stack of the wait that begins. */
static __always_inline void sample_wait(void *context, struct lumbre_thread *thread,
                                        __u32 probability) {
  struct capture_request request = {.event = LUMBRE_EVENT_OFFCPU,
                                    .probability = probability,
                                    .wait = thread->wait,
                                    .key = thread->since_ns};
  if (capture_sample(context, 0, &request)) {
    thread->flags |= LUMBRE_WAIT_SAMPLED;
    thread->probability = probability;
  }
}

static __always_inline void leave_cpu(void *context, struct task_struct *task, __u32 is_preempted,
                                      __u64 now_ns, const struct lumbre_wait_settings *settings) {
  struct lumbre_thread *thread = find_thread(task);
  if (!thread) {
    return;
  }
  count(LUMBRE_COUNTER_SWITCHES);
  if (thread->state == LUMBRE_THREAD_WAITS) {
    make_up_for_enter(thread, task, now_ns, settings);
  }
  thread->scheduled_ns = task->se.sum_exec_runtime;
  __u32 state = task_state(task);
  if (state & TASK_DEAD) {
    begin_wait(thread, LUMBRE_WAIT_OTHER, now_ns);
    thread->state = LUMBRE_THREAD_UNKNOWN;
    send_account(thread, 1);
    return;
  }
  __u64 detail = 0;
  __u32 wait = is_preempted || state == 0               ? LUMBRE_WAIT_RUNNABLE
               : state & (TASK_STOPPED | TASK_TRACED) ? LUMBRE_WAIT_OTHER
                                                        : wait_reason(task, &thread->task, &detail);
  begin_wait(thread, wait, now_ns);
  thread->detail = detail;
  __u32 probability = wait_probability(thread, wait, settings);
  if (probability == LUMBRE_CERTAIN || bpf_get_prandom_u32() < probability) {
    sample_wait(context, thread, probability);
  }
}

static __always_inline void enter_cpu(struct task_struct *task, __u64 now_ns,
                                      const struct lumbre_wait_settings *settings) {
  struct lumbre_thread *thread = find_thread(task);
  if (!thread) {
    return;
  }
  if (thread->state == LUMBRE_THREAD_UNKNOWN) {
    thread->wait = LUMBRE_WAIT_OTHER; /* it was not asked in time what it waited for */
    thread->flags = LUMBRE_WAIT_OPEN;
  } else if (thread->state == LUMBRE_THREAD_RUNS) {
    make_up_for_leave(thread, task, now_ns);
  }
  end_wait(thread, task->pid, now_ns, settings);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(lumbre_switch, _Bool preempt, struct task_struct *prev, struct task_struct *next) {
  const struct lumbre_wait_settings *settings = find_wait_settings();
  if (!settings || settings->begin_ns == 0) {
    return 0;
  }
  __u64 now_ns = bpf_ktime_get_ns();
  enter_cpu(next, now_ns, settings);
  leave_cpu(ctx, prev, preempt, now_ns, settings);
  return 0;
}

/* Takes the stack of the current task, which ends the wait (or was interrupted by what ends it). */
static __always_inline void sample_waker(void *context, struct lumbre_thread *thread, __u32 tid) {
  struct capture_request request = {.event = LUMBRE_EVENT_OFFCPU,
                                    .probability = LUMBRE_CERTAIN,
                                    .weight = tid,
                                    .wait = thread->wait,
                                    .flags = LUMBRE_SAMPLE_WAKER,
                                    .key = thread->since_ns};
  if (capture_sample(context, 0, &request)) {
    thread->flags |= LUMBRE_WAIT_WOKEN;
  }
}

/* In the waker, before the woken task is put on a run queue. */
SEC("tp_btf/sched_waking")
int BPF_PROG(lumbre_waking, struct task_struct *task) {
  struct lumbre_thread *thread = find_thread(task);
  if (!thread || thread->state != LUMBRE_THREAD_WAITS || thread->woken_ns != 0) {
    return 0;
  }
  thread->woken_ns = bpf_ktime_get_ns();
  const struct lumbre_wait_settings *settings = find_wait_settings();
  if (settings && settings->waker_minimum_ns &&
      thread->woken_ns - thread->since_ns >= settings->waker_minimum_ns) {
    sample_waker(ctx, thread, task->pid);
  }
  return 0;
}

/* A thread begins: its account, while memory can be had. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(lumbre_thread_begins, struct task_struct *parent, struct task_struct *child) {
  const struct lumbre_wait_settings *settings = find_wait_settings();
  if (!settings || settings->begin_ns == 0 || !is_in_scope(parent) ||
      (child->tgid != parent->tgid && !config.follows_children)) {
    return 0;
  }
  struct lumbre_thread *thread = open_account(child, bpf_ktime_get_ns());
  if (thread) {
    thread->state = LUMBRE_THREAD_WAITS;
    thread->wait = LUMBRE_WAIT_RUNNABLE;
  }
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
