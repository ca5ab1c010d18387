/* The single entry that all programs use: registers, event and weight become one sample. */
#ifndef LUMBRE_CORE_CAPTURE_H
#define LUMBRE_CORE_CAPTURE_H

#include "bpf/core/record.h"

#include "bpf/core/native_walk.h"
#include "bpf/core/python_walk.h"
#include "bpf/core/stack_copy.h"
#include "bpf/core/task.h"

#define LUMBRE_USER_CODE_SEGMENT_64 0x33

struct capture_request {
  __u32 event;       /* enum lumbre_event */
  __u32 probability; /* in units of 1/(2^32-1) */
  __u64 weight;
  __u32 wait; /* offcpu: enum lumbre_wait */
  __u32 flags; /* enum lumbre_sample_flag, beside those that are found */
  __u64 key;
};

static __always_inline void copy_registers(const struct lumbre_pt_regs *from,
                                           struct lumbre_registers *to) {
  to->value[LUMBRE_RAX] = from->ax;
  to->value[LUMBRE_RDX] = from->dx;
  to->value[LUMBRE_RCX] = from->cx;
  to->value[LUMBRE_RBX] = from->bx;
  to->value[LUMBRE_RSI] = from->si;
  to->value[LUMBRE_RDI] = from->di;
  to->value[LUMBRE_RBP] = from->bp;
  to->value[LUMBRE_RSP] = from->sp;
  to->value[LUMBRE_R8] = from->r8;
  to->value[LUMBRE_R9] = from->r9;
  to->value[LUMBRE_R10] = from->r10;
  to->value[LUMBRE_R11] = from->r11;
  to->value[LUMBRE_R12] = from->r12;
  to->value[LUMBRE_R13] = from->r13;
  to->value[LUMBRE_R14] = from->r14;
  to->value[LUMBRE_R15] = from->r15;
  to->value[LUMBRE_RIP] = from->ip;
  to->valid = (1 << LUMBRE_REGISTER_COUNT) - 1;
}

/* The kernel part; only where the interrupt hit kernel mode. */
static __always_inline void send_kernel_stack(void *context, const struct capture *capture,
                                              struct lumbre_sample *sample) {
  struct lumbre_kernel_stack *stack = bpf_ringbuf_reserve(&events, sizeof(*stack), 0);
  if (!stack) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    return;
  }
  long size = bpf_get_stack(context, stack->address, sizeof(stack->address), 0);
  if (size <= 0) {
    bpf_ringbuf_discard(stack, BPF_RB_NO_WAKEUP);
    return;
  }
  fill_header(&stack->header, LUMBRE_RECORD_KERNEL_STACK, capture);
  sample->kernel_frames = size / sizeof(__u64);
  bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
}

/* Finds the user-mode registers: those of the interrupt, or those that the task entered the
 * kernel with. Not inlined: its stack would stand below that of the walks, and up to Linux 6.12 all
 * functions in a row share 512 bytes. */
static __attribute__((noinline)) int read_user_registers(const struct lumbre_pt_regs *interrupted,
                                                         struct lumbre_sample *sample) {
  struct lumbre_pt_regs registers;
  if (sample->flags & LUMBRE_SAMPLE_IN_KERNEL) {
    if (lumbre_read_entry_registers(lumbre_current_task(), &registers)) {
      return 1;
    }
  } else if (bpf_probe_read_kernel(&registers, sizeof(registers), interrupted)) {
    return 1;
  }
  copy_registers(&registers, &sample->registers);
  if (sample->flags & LUMBRE_SAMPLE_IN_KERNEL) {
    sample->system_call = registers.orig_ax;
  }
  sample->flags |= LUMBRE_SAMPLE_USER_REGISTERS;
  /* Where the processor has FRED, the upper bits tell about the event. */
  if ((registers.cs & 0xffff) != LUMBRE_USER_CODE_SEGMENT_64) {
    sample->flags |= LUMBRE_SAMPLE_32BIT;
  }
  return 0;
}

/* The user part of a task that is no kernel thread. */
static __always_inline void capture_user(const struct lumbre_pt_regs *interrupted,
                                         struct task_struct *task, const struct capture *capture,
                                         struct lumbre_sample *sample) {
  read_user_registers(interrupted, sample);
  struct mm_struct *mm = LUMBRE_READ(task, mm);
  if ((sample->flags & LUMBRE_SAMPLE_USER_REGISTERS) && mm) {
    sample->exec_pages = LUMBRE_READ(mm, exec_vm);
    walk_python(task, capture, sample);
    if (!(sample->flags & LUMBRE_SAMPLE_32BIT)) {
      walk_native(capture, sample);
    }
    if (sample->native_end == LUMBRE_WALK_ROOT) {
      if (!config.check_one_in || bpf_get_prandom_u32() % config.check_one_in) {
        return;
      }
      sample->flags |= LUMBRE_SAMPLE_CHECKED;
    }
    copy_stack(task, capture, sample, sample->registers.value[LUMBRE_RSP]);
  }
}

static __always_inline void describe_sample(const struct capture_request *request,
                                            const struct capture *capture,
                                            struct task_struct *task,
                                            struct lumbre_sample *sample) {
  __builtin_memset(sample, 0, sizeof(*sample));
  fill_header(&sample->header, LUMBRE_RECORD_SAMPLE, capture);
  sample->event = request->event;
  sample->probability = request->probability;
  sample->weight = request->weight;
  sample->wait = request->wait;
  sample->flags = request->flags;
  sample->key = request->key;
  sample->stack_end = LUMBRE_STACK_NONE;
  sample->system_call = -1;
  read_task(task, &sample->task);
}

/* Of the current task, which the caller found to be in scope. `interrupted` are the registers that
 * the event hit, of user or kernel mode; null: the task is in the kernel by its own doing. 1: taken. */
static __always_inline int capture_sample(void *context, const struct lumbre_pt_regs *interrupted,
                                          const struct capture_request *request) {
  struct task_struct *task = lumbre_current_task();
  count_event(request->event, LUMBRE_EVENT_COUNTER_SAMPLES, 1);
  struct capture capture;
  start_capture(&capture);
  /* Reserved first and committed last: user space reads it when all its pieces are there. */
  struct lumbre_sample *sample = bpf_ringbuf_reserve(&events, sizeof(*sample), 0);
  if (!sample) {
    count_event(request->event, LUMBRE_EVENT_COUNTER_NO_ROOM, 1);
    return 0;
  }
  describe_sample(request, &capture, task, sample);
  unsigned long cs = 0;
  if (interrupted) {
    bpf_probe_read_kernel(&cs, sizeof(cs), &interrupted->cs);
  }
  if ((cs & 3) == 0) {
    sample->flags |= LUMBRE_SAMPLE_IN_KERNEL;
    send_kernel_stack(context, &capture, sample);
  }
  if (LUMBRE_READ(task, flags) & PF_KTHREAD) {
    sample->flags |= LUMBRE_SAMPLE_KERNEL_THREAD;
  } else {
    capture_user(interrupted, task, &capture, sample);
  }
  bpf_ringbuf_submit(sample, BPF_RB_NO_WAKEUP);
  count_event(request->event, LUMBRE_EVENT_COUNTER_SENT, 1);
  count_event(request->event, LUMBRE_EVENT_COUNTER_CAPTURE_NS,
              bpf_ktime_get_ns() - capture.time_ns);
  return 1;
}

#endif
