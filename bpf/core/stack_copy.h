/* Copies the user stack, page by page, from the stack pointer towards its root. */
#ifndef LUMBRE_CORE_STACK_COPY_H
#define LUMBRE_CORE_STACK_COPY_H

#include "bpf/core/record.h"
#include "bpf/core/task.h"

#define LUMBRE_RED_ZONE_BYTES 128
/* A thread's stack lies right below its thread control block (glibc, musl); further away than
 * this the two have nothing to do with each other. */
#define LUMBRE_MAX_THREAD_STACK_BYTES (256ULL << 20)

/* Where the stack that holds `sp` is known to end, 0 where that is not known. */
static __always_inline __u64 find_stack_top(struct task_struct *task, __u64 sp) {
  __u64 alternate = LUMBRE_READ(task, sas_ss_sp);
  __u64 alternate_size = LUMBRE_READ(task, sas_ss_size);
  if (alternate_size && sp >= alternate && sp - alternate < alternate_size) {
    return alternate + alternate_size;
  }
  struct mm_struct *mm = LUMBRE_READ(task, mm);
  __u64 main_top = LUMBRE_READ(mm, start_stack);
  __u64 thread_top = LUMBRE_READ(task, thread.fsbase);
  int is_main = LUMBRE_READ(task, pid) == LUMBRE_READ(task, tgid);
  if (sp < main_top && (is_main || main_top - sp < (8ULL << 20))) {
    return main_top;
  }
  if (sp < thread_top && thread_top - sp < LUMBRE_MAX_THREAD_STACK_BYTES) {
    return thread_top;
  }
  return 0;
}

/* What changes stands in the sample or follows from the loop's index: the verifier follows every
 * value that stands on the stack through each turn, none in a record. */
struct stack_copy {
  const struct capture *capture;
  struct lumbre_sample *sample;
  __u64 start;
};

/* Turn of a loop: one page. 1 ends the loop. */
static long copy_stack_page(__u32 index, void *context) {
  const struct stack_copy *copy = context;
  struct lumbre_sample *sample = copy->sample;
  if (!sample || sample->stack_chunks >= LUMBRE_MAX_STACK_CHUNKS) {
    return 1;
  }
  const __u64 mask = LUMBRE_STACK_CHUNK_BYTES - 1;
  __u64 top = sample->stack_top;
  __u64 address = index ? (copy->start & ~mask) + (__u64)index * LUMBRE_STACK_CHUNK_BYTES
                        : copy->start;
  __u64 size = LUMBRE_STACK_CHUNK_BYTES - (address & mask);
  if (top && address >= top) {
    sample->stack_end = LUMBRE_STACK_WHOLE;
    return 1;
  }
  if (top && top - address < size) {
    size = top - address;
  }
  /* Never true. Tested on the very register that is used. */
  __asm__ volatile("" : "+r"(size));
  if (size > LUMBRE_STACK_CHUNK_BYTES) {
    return 1;
  }
  struct lumbre_stack_chunk *chunk = bpf_ringbuf_reserve(&events, sizeof(*chunk), 0);
  if (!chunk) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    sample->stack_end = LUMBRE_STACK_NO_ROOM;
    return 1;
  }
  if (bpf_probe_read_user(chunk->bytes, size, (const void *)address)) {
    bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
    /* A page that was never touched is no end: the callers' pages lie above it. */
    if (top && index - sample->stack_chunks < LUMBRE_MAX_STACK_HOLES) {
      return 0;
    }
    sample->stack_end = LUMBRE_STACK_FAULT;
    return 1;
  }
  fill_header(&chunk->header, LUMBRE_RECORD_STACK_CHUNK, copy->capture);
  chunk->address = address;
  chunk->size_bytes = size;
  chunk->index = sample->stack_chunks++;
  bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
  return 0;
}

#ifdef LUMBRE_CLASSIC

struct stack_copy_memory {
  struct capture capture;
  struct lumbre_sample sample; /* of which only what the copy changes is in use */
  __u64 start;
};
LUMBRE_STATIC_ASSERT(sizeof(struct stack_copy_memory) <= LUMBRE_WALK_MEMORY_BYTES, "memory");

LUMBRE_GLOBAL int lumbre_copy_stack_page(__u32 index) {
  struct stack_copy_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 1;
  }
  struct stack_copy copy = {
      .capture = &memory->capture, .sample = &memory->sample, .start = memory->start};
  return copy_stack_page(index, &copy);
}

static long copy_stack_page_in_memory(__u32 index, void *context) {
  return lumbre_copy_stack_page(index);
}

static __always_inline void copy_stack_pages(struct stack_copy *copy) {
  struct stack_copy_memory *memory = lumbre_find_walk_memory();
  struct lumbre_sample *sample = copy->sample;
  if (!memory) {
    return;
  }
  memory->capture = *copy->capture;
  memory->start = copy->start;
  memory->sample.stack_top = sample->stack_top;
  memory->sample.stack_chunks = sample->stack_chunks;
  memory->sample.stack_end = sample->stack_end;
  LUMBRE_LOOP(LUMBRE_MAX_STACK_CHUNKS + LUMBRE_MAX_STACK_HOLES, copy_stack_page_in_memory, 0);
  sample->stack_chunks = memory->sample.stack_chunks;
  sample->stack_end = memory->sample.stack_end;
}

#else

static __always_inline void copy_stack_pages(struct stack_copy *copy) {
  LUMBRE_LOOP(LUMBRE_MAX_STACK_CHUNKS + LUMBRE_MAX_STACK_HOLES, copy_stack_page, copy);
}

#endif

static __always_inline void copy_stack(struct task_struct *task, const struct capture *capture,
                                       struct lumbre_sample *sample, __u64 sp) {
  struct stack_copy copy = {
      .capture = capture, .sample = sample, .start = (sp - LUMBRE_RED_ZONE_BYTES) & ~7ULL};
  sample->stack_top = find_stack_top(task, sp);
  sample->stack_chunks = 0;
  sample->stack_end = LUMBRE_STACK_LIMIT;
  copy_stack_pages(&copy);
}

#endif
