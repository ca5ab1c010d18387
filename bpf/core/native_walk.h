/* Walks the native frames of the current task by unwind rules, to the root.
 *
 * Nothing but the stack is read, page by page: a walk goes one way, so that each page is copied
 * once. Where a rule or a page is missing the walk is given up; the caller then copies the stack
 * for user space, which also loads what was missing. */
#ifndef LUMBRE_CORE_NATIVE_WALK_H
#define LUMBRE_CORE_NATIVE_WALK_H

#include "bpf/core/native_scratch.h"
#include "bpf/core/native_tables.h"

static __always_inline int step_scratch(struct native_scratch *scratch,
                                        const struct lumbre_unwind_rule *rule) {
  return lumbre_native_step(rule, &scratch->registers, &scratch->reader);
}

/* One step of the walk: enum lumbre_step_result. */
#ifdef LUMBRE_CLASSIC

LUMBRE_GLOBAL int lumbre_step_here(__u32 index) {
  struct native_memory *memory = lumbre_find_walk_memory();
  const struct lumbre_unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &index);
  return memory && rule ? step_scratch(&memory->scratch, rule) : LUMBRE_STEP_NO_RULE;
}

#define lumbre_step_scratch(scratch, rule, index) lumbre_step_here(index)

#else

LUMBRE_GLOBAL int lumbre_step_rule(struct native_scratch *scratch,
                                   const struct lumbre_unwind_rule *rule) {
  return scratch && rule ? step_scratch(scratch, rule) : LUMBRE_STEP_NO_RULE;
}

#define lumbre_step_scratch(scratch, rule, index) lumbre_step_rule(scratch, rule)

#endif

/* Pointers only: the verifier follows every value that stands on the stack, none in a record. */
struct native_walk {
  struct native_scratch *scratch;
  struct lumbre_native_chunk *chunk; /* null between chunks */
  const struct capture *capture;
};

/* Turn of a loop: one frame. 1 ends the loop. */
static long add_native_frame(__u32 index, void *context) {
  struct native_walk *walk = context;
  struct lumbre_native_chunk *chunk = walk->chunk;
  struct native_scratch *scratch = walk->scratch;
  if (!chunk || !scratch || index >= LUMBRE_NATIVE_CHUNK_FRAMES) {
    return 1;
  }
  __u64 pc = scratch->registers.value[LUMBRE_RIP];
  __u64 is_instruction = scratch->is_instruction;
  chunk->frame[index].pc = pc | is_instruction << LUMBRE_NATIVE_PC_INSTRUCTION_BIT;
  chunk->frame[index].sp = scratch->registers.value[LUMBRE_RSP];
  scratch->filled = index + 1;
  __u32 rule_index = 0;
  const struct lumbre_unwind_rule *rule = find_rule(&scratch->process, pc - !is_instruction,
                                                    &scratch->misses, &scratch->end, &rule_index);
  if (!rule) {
    return 1;
  }
  scratch->is_instruction = rule->cfa_kind == LUMBRE_CFA_SIGNAL;
  int result = lumbre_step_scratch(scratch, rule, rule_index);
  if (result == LUMBRE_STEP_OK) {
    return 0;
  }
  scratch->end = result == LUMBRE_STEP_ROOT              ? LUMBRE_WALK_ROOT
                 : result == LUMBRE_STEP_READ_FAULT      ? LUMBRE_WALK_FAULT
                 : result == LUMBRE_STEP_NOT_PROGRESSING ? LUMBRE_WALK_BROKEN
                                                         : LUMBRE_WALK_NO_RULE;
  return 1;
}

/* Turn of a loop: one chunk of frames. 1 ends the loop. */
static long add_native_chunk(__u32 index, void *context) {
  struct native_walk *walk = context;
  struct native_scratch *scratch = walk->scratch;
  if (!scratch) {
    return 1;
  }
  struct lumbre_native_chunk *chunk = bpf_ringbuf_reserve(&events, sizeof(*chunk), 0);
  if (!chunk) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    scratch->end = LUMBRE_WALK_NO_ROOM;
    return 1;
  }
  walk->chunk = chunk;
  scratch->filled = 0;
  LUMBRE_LOOP(LUMBRE_NATIVE_CHUNK_FRAMES, add_native_frame, walk);
  walk->chunk = 0;
  fill_header(&chunk->header, LUMBRE_RECORD_NATIVE_CHUNK, walk->capture);
  chunk->count = scratch->filled;
  chunk->index = index;
  bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
  scratch->frames += scratch->filled;
  scratch->chunks++;
  return scratch->end != LUMBRE_WALK_LIMIT;
}

#ifdef LUMBRE_CLASSIC

LUMBRE_GLOBAL int lumbre_add_native_chunk(__u32 index) {
  struct native_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 1;
  }
  struct native_walk walk = {.scratch = &memory->scratch, .capture = &memory->capture};
  return add_native_chunk(index, &walk);
}

static long add_native_chunk_in_memory(__u32 index, void *context) {
  return lumbre_add_native_chunk(index);
}

static __always_inline struct native_scratch *take_native_scratch(const struct capture *capture) {
  struct native_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 0;
  }
  memory->capture = *capture;
  return &memory->scratch;
}

static __always_inline void drop_native_scratch(struct native_scratch *scratch) {}

#else

#define add_native_chunk_in_memory add_native_chunk

static __always_inline struct native_scratch *take_native_scratch(const struct capture *capture) {
  return bpf_ringbuf_reserve(&events, sizeof(struct native_scratch), 0);
}

static __always_inline void drop_native_scratch(struct native_scratch *scratch) {
  bpf_ringbuf_discard(scratch, BPF_RB_NO_WAKEUP);
}

#endif

/* Fills the sample's native_* fields; what they say is sent, even if it is not used. */
static __always_inline void walk_native(const struct capture *capture,
                                        struct lumbre_sample *sample) {
  __u32 pid = sample->task.visible_pid;
  struct lumbre_native_process *process = bpf_map_lookup_elem(&native_processes, &pid);
  __u32 exec_id = sample->task.address_space & ((1 << LUMBRE_EXEC_ID_BITS) - 1);
  sample->native_end = LUMBRE_WALK_NOT_LOADED;
  if (!process || process->exec_pages != sample->exec_pages || process->exec_id != exec_id) {
    return;
  }
  struct native_scratch *scratch = take_native_scratch(capture);
  if (!scratch) {
    sample->native_end = LUMBRE_WALK_NO_ROOM;
    return;
  }
  scratch->registers = sample->registers;
  scratch->process = *process;
  scratch->frames = 0;
  scratch->chunks = 0;
  scratch->misses = 0;
  scratch->end = LUMBRE_WALK_LIMIT;
  scratch->is_instruction = 1;
  scratch->reader.start = 1;
  struct native_walk walk = {.scratch = scratch, .capture = capture};
  LUMBRE_LOOP(LUMBRE_MAX_NATIVE_CHUNKS, add_native_chunk_in_memory, &walk);
  count_many(LUMBRE_COUNTER_NATIVE_FRAMES, scratch->frames);
  count_many(LUMBRE_COUNTER_RULE_CACHE_MISSES, scratch->misses);
  sample->native_frames = scratch->frames;
  sample->native_chunks = scratch->chunks;
  sample->native_end = scratch->end;
  drop_native_scratch(scratch);
}

#endif
