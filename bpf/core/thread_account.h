/* The account of each thread's time: on a CPU, waiting for what, ready to run. Exact: it is brought
 * up to date at every switch. Only stacks are sampled. */
#ifndef LUMBRE_CORE_THREAD_ACCOUNT_H
#define LUMBRE_CORE_THREAD_ACCOUNT_H

#include "bpf/core/capture.h"
#include "bpf/core/wait_reason.h"

#define LUMBRE_CERTAIN 0xffffffffU
#define LUMBRE_LEAST_PROBABILITY (LUMBRE_CERTAIN / 128)

static __always_inline const struct lumbre_wait_settings *find_wait_settings(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&wait_settings, &zero);
}

static __always_inline struct lumbre_thread *find_thread(struct task_struct *task) {
  return bpf_task_storage_get(&threads, task, 0, 0);
}

/* Begins the account of a thread in scope: UNKNOWN since `since_ns`. Not from within the scheduler:
 * it takes memory. */
static __always_inline struct lumbre_thread *open_account(struct task_struct *task,
                                                          __u64 since_ns) {
  struct lumbre_thread *thread =
      bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!thread) {
    count(LUMBRE_COUNTER_THREADS_FULL);
    return 0;
  }
  if (thread->first_ns == 0) {
    read_task(task, &thread->task);
    thread->scheduled_ns = task->se.sum_exec_runtime;
    thread->since_ns = since_ns;
    thread->first_ns = since_ns;
  }
  return thread;
}

/* With what probability the stack of a wait is taken as it begins. It depends on earlier waits only,
 * so that duration / probability is an unbiased estimate. */
static __always_inline __u32 wait_probability(const struct lumbre_thread *thread, __u32 wait,
                                              const struct lumbre_wait_settings *settings) {
  __u64 mean = wait < LUMBRE_WAIT_COUNT ? thread->mean_ns[wait] : 0;
  __u64 certain = settings->certain_ns;
  if (mean == 0) {
    mean = LUMBRE_FIRST_MEAN_NS;
  }
  if (mean >= certain) {
    return LUMBRE_CERTAIN;
  }
  __u64 probability = mean * (LUMBRE_CERTAIN / 1024) / (certain / 1024 + 1);
  return probability < LUMBRE_LEAST_PROBABILITY ? LUMBRE_LEAST_PROBABILITY
         : probability > LUMBRE_CERTAIN         ? LUMBRE_CERTAIN
                                                : probability;
}

static __always_inline void begin_wait(struct lumbre_thread *thread, __u32 wait, __u64 now_ns) {
  if (thread->state != LUMBRE_THREAD_WAITS && now_ns > thread->since_ns) {
    thread->run_ns += now_ns - thread->since_ns;
  }
  thread->state = LUMBRE_THREAD_WAITS;
  thread->since_ns = now_ns;
  thread->woken_ns = 0;
  thread->wait = wait;
  thread->flags = 0;
  thread->probability = 0;
}

static __always_inline void send_wait(const struct lumbre_thread *thread, __u32 tid,
                                      __u64 blocked_ns, __u64 runnable_ns) {
  struct lumbre_wait_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count(LUMBRE_COUNTER_WAITS_NO_ROOM);
    return;
  }
  struct capture capture;
  start_capture(&capture);
  fill_header(&record->header, LUMBRE_RECORD_WAIT, &capture);
  record->host_tid = tid;
  record->wait = thread->wait;
  record->since_ns = thread->since_ns;
  record->blocked_ns = blocked_ns;
  record->runnable_ns = runnable_ns;
  record->flags = thread->flags;
  record->probability = thread->probability;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline void add_to_total(struct lumbre_thread *thread, __u32 wait, __u64 ns,
                                         __u64 many) {
  if (wait < LUMBRE_WAIT_COUNT) {
    thread->total[wait].ns += ns;
    thread->total[wait].count += many;
  }
}

/* The thread gets a CPU. */
static __always_inline void end_wait(struct lumbre_thread *thread, __u32 tid, __u64 now_ns,
                                     const struct lumbre_wait_settings *settings) {
  __u64 whole_ns = now_ns - thread->since_ns;
  __u64 runnable_ns = thread->wait == LUMBRE_WAIT_RUNNABLE ? whole_ns
                      : thread->woken_ns > thread->since_ns ? now_ns - thread->woken_ns
                                                            : 0;
  __u32 wait = thread->wait;
  if (wait != LUMBRE_WAIT_RUNNABLE) {
    add_to_total(thread, wait, whole_ns - runnable_ns, 1);
  }
  add_to_total(thread, LUMBRE_WAIT_RUNNABLE, runnable_ns, runnable_ns != 0);
  if (wait < LUMBRE_WAIT_COUNT) {
    __u64 mean = thread->mean_ns[wait];
    thread->mean_ns[wait] = (mean ? (3 * mean + whole_ns) / 4 : whole_ns) | 1;
  }
  if (thread->flags || whole_ns >= settings->long_ns) {
    send_wait(thread, tid, whole_ns - runnable_ns, runnable_ns);
  }
  thread->state = LUMBRE_THREAD_RUNS;
  thread->since_ns = now_ns;
}

/* Some kernels hide switches from or to some threads. Where one was not seen, the scheduler's own
 * account says how much of the time between was spent on a CPU. */
static __always_inline __u64 scheduled_since(const struct lumbre_thread *thread,
                                             struct task_struct *task, __u64 now_ns) {
  __u64 ran_ns = task->se.sum_exec_runtime - thread->scheduled_ns;
  __u64 most_ns = now_ns - thread->since_ns;
  return ran_ns < most_ns ? ran_ns : most_ns;
}

/* It leaves a CPU, but was not seen to get it. */
static __always_inline void make_up_for_enter(struct lumbre_thread *thread,
                                              struct task_struct *task, __u64 now_ns,
                                              const struct lumbre_wait_settings *settings) {
  count(LUMBRE_COUNTER_SWITCHES_IN_MISSED);
  __u64 entered_ns = now_ns - scheduled_since(thread, task, now_ns);
  if (thread->woken_ns > entered_ns) {
    thread->woken_ns = entered_ns;
  }
  end_wait(thread, task->pid, entered_ns, settings);
}

/* It gets a CPU, but was not seen to leave the last one. */
static __always_inline void make_up_for_leave(struct lumbre_thread *thread,
                                              struct task_struct *task, __u64 now_ns) {
  count(LUMBRE_COUNTER_SWITCHES_OUT_MISSED);
  begin_wait(thread, LUMBRE_WAIT_OTHER,
             thread->since_ns + scheduled_since(thread, task, now_ns));
}

static __always_inline void send_account(const struct lumbre_thread *thread, __u32 is_ended) {
  struct lumbre_thread_record *record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
  if (!record) {
    count(LUMBRE_COUNTER_WAITS_NO_ROOM);
    return;
  }
  struct capture capture;
  start_capture(&capture);
  fill_header(&record->header, LUMBRE_RECORD_THREAD, &capture);
  record->is_ended = is_ended;
  record->padding = 0;
  record->thread = *thread;
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
