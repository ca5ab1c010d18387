// A look at what waits now: every thread in scope that has waited for a while and whose stack was
// not taken when it began. Run by reading from a BPF iterator, outside of the threads themselves, so
// user space reads their stacks: they lie still as long as the wait lasts.
#include "bpf/core/thread_account.h"

#include <bpf/bpf_tracing.h>

static __always_inline void send_waiting_stack(struct task_struct *task,
                                               const struct capture *capture,
                                               struct lumbre_sample *sample) {
  struct lumbre_kernel_stack *stack = bpf_ringbuf_reserve(&events, sizeof(*stack), 0);
  if (!stack) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    return;
  }
  long size = bpf_get_task_stack(task, stack->address, sizeof(stack->address), 0);
  if (size <= 0) {
    bpf_ringbuf_discard(stack, BPF_RB_NO_WAKEUP);
    return;
  }
  fill_header(&stack->header, LUMBRE_RECORD_KERNEL_STACK, capture);
  sample->kernel_frames = size / sizeof(__u64);
  bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
}

static __always_inline void read_waiting_registers(struct task_struct *task,
                                                   struct lumbre_sample *sample) {
  struct lumbre_pt_regs registers;
  const void *entry = (const void *)bpf_task_pt_regs(task);
  if (!task->mm || bpf_probe_read_kernel(&registers, sizeof(registers), entry)) {
    return;
  }
  copy_registers(&registers, &sample->registers);
  sample->system_call = registers.orig_ax;
  sample->flags |= LUMBRE_SAMPLE_USER_REGISTERS;
  if ((registers.cs & 0xffff) != LUMBRE_USER_CODE_SEGMENT_64) {
    sample->flags |= LUMBRE_SAMPLE_32BIT;
  }
  sample->exec_pages = task->mm->exec_vm;
  sample->thread_pointer = task->thread.fsbase;
  sample->stack_top = find_stack_top(task, registers.sp);
}

static __always_inline void look_at(struct task_struct *task, struct lumbre_thread *thread) {
  struct capture_request request = {.event = LUMBRE_EVENT_OFFCPU,
                                    .probability = LUMBRE_CERTAIN,
                                    .wait = thread->wait,
                                    .key = thread->since_ns};
  struct capture capture;
  start_capture(&capture);
  count_event(request.event, LUMBRE_EVENT_COUNTER_SAMPLES, 1);
  struct lumbre_sample *sample = bpf_ringbuf_reserve(&events, sizeof(*sample), 0);
  if (!sample) {
    count_event(request.event, LUMBRE_EVENT_COUNTER_NO_ROOM, 1);
    return;
  }
  describe_sample(&request, &capture, task, sample);
  sample->flags |= LUMBRE_SAMPLE_LOOKED | LUMBRE_SAMPLE_IN_KERNEL;
  send_waiting_stack(task, &capture, sample);
  if (task->flags & PF_KTHREAD) {
    sample->flags |= LUMBRE_SAMPLE_KERNEL_THREAD;
  } else {
    read_waiting_registers(task, sample);
  }
  thread->flags |= LUMBRE_WAIT_LOOKED;
  bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
  count_event(request.event, LUMBRE_EVENT_COUNTER_SENT, 1);
  count_event(request.event, LUMBRE_EVENT_COUNTER_CAPTURE_NS,
              bpf_ktime_get_ns() - capture.time_ns);
}

/* Begins the account of a thread that has none. What runs just now says so at its next switch. */
static __always_inline void open_running_or_waiting(struct task_struct *task,
                                                    const struct lumbre_wait_settings *settings) {
  if (task->pid == 0 || !is_in_scope(task)) {
    return;
  }
  struct lumbre_thread *thread = open_account(task, settings->begin_ns);
  if (thread && !task->on_cpu && thread->state == LUMBRE_THREAD_UNKNOWN) {
    __u64 detail = 0;
    thread->wait = task_state(task) == 0 ? LUMBRE_WAIT_RUNNABLE
                                         : wait_reason(task, &thread->task, &detail);
    thread->detail = detail;
    thread->flags = LUMBRE_WAIT_OPEN;
    thread->state = LUMBRE_THREAD_WAITS;
  }
}

SEC("iter/task")
int lumbre_look(struct bpf_iter__task *context) {
  const struct lumbre_wait_settings *settings = find_wait_settings();
  struct task_struct *task = context->task;
  if (!task || !settings) {
    return 0;
  }
  struct lumbre_thread *thread = find_thread(task);
  if (!thread && settings->look_opens) {
    open_running_or_waiting(task, settings);
    thread = find_thread(task);
  }
  if (!thread) {
    return 0;
  }
  if (settings->look_sends) {
    if (!(task_state(task) & TASK_DEAD)) {
      send_account(thread, 0);
    }
    return 0;
  }
  if (thread->state != LUMBRE_THREAD_WAITS || (thread->flags & LUMBRE_WAIT_LOOKED) ||
      ((thread->flags & LUMBRE_WAIT_SAMPLED) && thread->probability == LUMBRE_CERTAIN)) {
    return 0;
  }
  if (bpf_ktime_get_ns() - thread->since_ns >= settings->look_minimum_ns) {
    look_at(task, thread);
  }
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
