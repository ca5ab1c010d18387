/* Walks the Python frames of the current thread, without knowing its native stack.
 *
 * The thread's PyThreadState is found by its thread_id, which is pthread_self(), which on x86-64
 * is the FS base; so it is found while the GIL is released, too. Frames are followed from the
 * leaf to the root. Where eval calls begin and end is marked by addresses in the native stack
 * (`boundary`), by which user space joins the two walks. */
#ifndef LUMBRE_CORE_PYTHON_WALK_H
#define LUMBRE_CORE_PYTHON_WALK_H

#include "bpf/core/python_code.h"
#include "bpf/core/record.h"
#include "bpf/platform/lumbre_kernel.h"

#define LUMBRE_FRAME_WORDS 14 /* frame fields lie in the first 112 bytes */

static __always_inline int read_user_word(__u64 address, __u64 *value) {
  return bpf_probe_read_user(value, sizeof(*value), (const void *)address);
}

/* The leaf frame of a thread state; the cframe, where there is one, goes to *cframe. */
static __always_inline int read_leaf_frame(const struct lumbre_python_layout *layout, __u64 state,
                                           __u64 *frame, __u64 *cframe) {
  if (read_user_word(state + layout->thread_frame, frame)) {
    return 1;
  }
  if ((layout->flags & LUMBRE_PYTHON_CFRAME) && *frame) {
    *cframe = *frame;
    return read_user_word(*cframe + layout->cframe_current_frame, frame);
  }
  return 0;
}

struct thread_search {
  __u64 thread_id;
  __u64 interpreter;
  __u64 state;
  __u64 found;
  const struct lumbre_python_process *process;
};

/* Turn of a loop: one thread state (or the step to the next interpreter). 1 ends the loop. */
static long check_thread_state(__u32 index, void *context) {
  struct thread_search *search = context;
  const struct lumbre_python_layout *layout = &search->process->layout;
  if (!search->state) {
    __u64 next = 0;
    if (!search->interpreter ||
        read_user_word(search->interpreter + layout->interpreter_next, &next) || !next) {
      return 1;
    }
    search->interpreter = next;
    return read_user_word(next + layout->interpreter_threads_head, &search->state) != 0;
  }
  __u64 id = 0;
  if (read_user_word(search->state + layout->thread_id, &id)) {
    return 1;
  }
  if (id == search->thread_id) {
    __u64 frame = 0;
    __u64 cframe = 0;
    search->found = search->state;
    /* A thread may have one state per subinterpreter: the one with frames is the running one. */
    if (!read_leaf_frame(layout, search->state, &frame, &cframe) && frame) {
      return 1;
    }
  }
  return read_user_word(search->state + layout->thread_next, &search->state) != 0;
}

static __always_inline void search_thread_states(struct thread_search *search);

/* The PyThreadState of the thread, or 0. */
static __always_inline __u64 find_thread_state(const struct lumbre_python_process *process,
                                               __u64 address_space, __u64 thread_id) {
  const struct lumbre_python_layout *layout = &process->layout;
  struct lumbre_thread_key key = {.address_space = address_space, .thread_id = thread_id};
  struct lumbre_thread_value value = {};
  __u64 interpreter = 0;
  if (read_user_word(process->runtime_address + layout->runtime_interpreters_head,
                     &interpreter) || !interpreter ||
      read_user_word(interpreter + layout->interpreter_threads_head, &value.head)) {
    return 0;
  }
  struct lumbre_thread_value *known = bpf_map_lookup_elem(&thread_states, &key);
  /* While the list starts where it did, no thread state was added: what was found still holds. (A
   * new thread may get the id and stack of one that ended, whose freed state still has the id.) */
  if (known && known->head == value.head) {
    __u64 state = known->state;
    __u64 id = 0;
    if (!state) {
      return 0;
    }
    if (!read_user_word(state + layout->thread_id, &id) && id == thread_id) {
      return state;
    }
  }
  count(LUMBRE_COUNTER_THREAD_SEARCHES);
  struct thread_search search = {.thread_id = thread_id, .interpreter = interpreter,
                                 .state = value.head, .process = process};
  search_thread_states(&search);
  value.state = search.found;
  bpf_map_update_elem(&thread_states, &key, &value, BPF_ANY);
  return search.found;
}

/* In a ring buffer record that is discarded in the end: too large for the stack, and the verifier
 * follows every value that stands on the stack, none in a record. */
struct python_scratch {
  __u64 address_space;
  __u64 frame;
  __u64 cframe; /* 3.11, 3.12 */
  __u32 pid;
  __u32 filled; /* entries in the chunk */
  __u32 frames;
  __u32 chunks;
  __u32 end;
  __u32 padding;
  /* A word more than is used: the verifier takes a byte offset rounded down to words for as large
   * as the one it was made of. */
  __u64 frame_words[LUMBRE_FRAME_WORDS + 1];
  __u64 code_words[LUMBRE_CODE_WORDS + 1];
};

struct python_walk {
  struct python_scratch *scratch;
  struct lumbre_python_chunk *chunk; /* null between chunks */
  const struct capture *capture;
  const struct lumbre_python_process *process;
};

static __always_inline __u64 word_at(const __u64 *words, __u32 byte_offset) {
  __u32 index = byte_offset >> 3;
  return index < LUMBRE_FRAME_WORDS ? words[index] : 0;
}

/* owner (3.12+) or is_entry (3.11): one byte of the frame. */
static __always_inline __u32 frame_mark(const __u64 *words, __u32 byte_offset) {
  return (word_at(words, byte_offset) >> ((byte_offset & 7) * 8)) & 0xff;
}

/* Where the eval call of an entry frame ends: its _PyCFrame, which lies on the C stack. */
static __always_inline __u64 pop_cframe(const struct python_walk *walk) {
  struct python_scratch *scratch = walk->scratch;
  __u64 cframe = scratch->cframe;
  if (read_user_word(cframe + walk->process->layout.cframe_previous, &scratch->cframe)) {
    scratch->cframe = 0;
  }
  return cframe ? cframe : 1;
}

/* Reads the frame's fields into `entry`; 0 or the reason to stop. */
static __always_inline __u32 read_python_frame(const struct python_walk *walk,
                                               struct lumbre_python_frame *entry) {
  const struct lumbre_python_layout *layout = &walk->process->layout;
  struct python_scratch *scratch = walk->scratch;
  const __u64 *words = scratch->frame_words;
  __u32 size = layout->frame_bytes;
  __u64 this_frame = scratch->frame;
  if (size > LUMBRE_FRAME_WORDS * sizeof(*words) ||
      bpf_probe_read_user(scratch->frame_words, size, (const void *)this_frame)) {
    return LUMBRE_PYTHON_FAULT;
  }
  scratch->frame = word_at(words, layout->frame_back);
  entry->code = 0;
  entry->instruction = 0;
  entry->boundary = 0;
  entry->check = 0;
  if ((layout->flags & LUMBRE_PYTHON_SHIM_FRAMES) &&
      frame_mark(words, layout->frame_owner) >= layout->owner_shim_minimum) {
    entry->boundary = this_frame;
    return 0;
  }
  entry->code = word_at(words, layout->frame_code) & layout->executable_mask;
  entry->instruction = word_at(words, layout->frame_instruction & ~7U);
  if (layout->flags & LUMBRE_PYTHON_FRAME_OBJECTS) {
    /* f_lasti is an int; it may be the upper half of its word. */
    entry->instruction >>= (layout->frame_instruction & 4) * 8;
    entry->instruction &= 0xffffffff;
    entry->boundary = 1;
  } else if ((layout->flags & LUMBRE_PYTHON_ENTRY_FLAG) &&
             frame_mark(words, layout->frame_owner)) {
    entry->boundary = pop_cframe(walk);
  }
  struct lumbre_code_key key = {.address_space = scratch->address_space, .code = entry->code};
  __u32 failure =
      check_code_object(walk->process, walk->capture, &key, scratch->pid, scratch->code_words);
  entry->check = key.check;
  return failure;
}

/* Turn of a loop: one frame into the chunk. 1 ends the loop. */
static long add_python_frame(__u32 index, void *context) {
  struct python_walk *walk = context;
  struct python_scratch *scratch = walk->scratch;
  struct lumbre_python_chunk *chunk = walk->chunk;
  if (!chunk || !scratch || index >= LUMBRE_PYTHON_CHUNK_FRAMES) {
    return 1;
  }
  if (!scratch->frame) {
    scratch->end = LUMBRE_PYTHON_ROOT;
    return 1;
  }
  __u32 failure = read_python_frame(walk, &chunk->frame[index]);
  if (failure) {
    scratch->end = failure;
    return 1;
  }
  scratch->filled = index + 1;
  return 0;
}

/* Turn of a loop: one chunk of frames. 1 ends the loop. */
static long add_python_chunk(__u32 index, void *context) {
  struct python_walk *walk = context;
  struct python_scratch *scratch = walk->scratch;
  if (!scratch) {
    return 1;
  }
  struct lumbre_python_chunk *chunk = bpf_ringbuf_reserve(&events, sizeof(*chunk), 0);
  if (!chunk) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    scratch->end = LUMBRE_PYTHON_NO_ROOM;
    return 1;
  }
  walk->chunk = chunk;
  scratch->filled = 0;
  LUMBRE_LOOP(LUMBRE_PYTHON_CHUNK_FRAMES, add_python_frame, walk);
  walk->chunk = 0;
  fill_header(&chunk->header, LUMBRE_RECORD_PYTHON_CHUNK, walk->capture);
  chunk->count = scratch->filled;
  chunk->index = index;
  if (scratch->filled == 0) {
    bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
    return 1;
  }
  bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
  scratch->frames += scratch->filled;
  scratch->chunks++;
  return scratch->end != LUMBRE_PYTHON_LIMIT;
}

#ifdef LUMBRE_CLASSIC

struct python_memory {
  struct python_scratch scratch;
  struct thread_search search;
  struct capture capture;
  struct lumbre_python_process process;
};
LUMBRE_STATIC_ASSERT(sizeof(struct python_memory) <= LUMBRE_WALK_MEMORY_BYTES, "memory");

LUMBRE_GLOBAL int lumbre_check_thread_state(void) {
  struct python_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 1;
  }
  struct thread_search search = memory->search;
  search.process = &memory->process;
  int is_end = check_thread_state(0, &search);
  search.process = 0; /* a pointer does not go into a map */
  memory->search = search;
  return is_end;
}

static long check_thread_state_in_memory(__u32 index, void *context) {
  return lumbre_check_thread_state();
}

static __always_inline void search_thread_states(struct thread_search *search) {
  struct python_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return;
  }
  const struct lumbre_python_process *process = search->process;
  memory->process = *process;
  search->process = 0;
  memory->search = *search;
  LUMBRE_LOOP(LUMBRE_MAX_THREAD_STATES, check_thread_state_in_memory, 0);
  *search = memory->search;
  search->process = process;
}

static __always_inline struct python_scratch *take_python_scratch(
    const struct lumbre_python_process *process, const struct capture *capture) {
  struct python_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 0;
  }
  memory->capture = *capture;
  memory->process = *process;
  return &memory->scratch;
}

static __always_inline void drop_python_scratch(struct python_scratch *scratch) {}

LUMBRE_GLOBAL int lumbre_add_python_chunk(__u32 index) {
  struct python_memory *memory = lumbre_find_walk_memory();
  if (!memory) {
    return 1;
  }
  struct python_walk walk = {
      .scratch = &memory->scratch, .capture = &memory->capture, .process = &memory->process};
  return add_python_chunk(index, &walk);
}

static long add_python_chunk_in_memory(__u32 index, void *context) {
  return lumbre_add_python_chunk(index);
}

#else

static __always_inline void search_thread_states(struct thread_search *search) {
  LUMBRE_LOOP(LUMBRE_MAX_THREAD_STATES, check_thread_state, search);
}

static __always_inline struct python_scratch *take_python_scratch(
    const struct lumbre_python_process *process, const struct capture *capture) {
  return bpf_ringbuf_reserve(&events, sizeof(struct python_scratch), 0);
}

static __always_inline void drop_python_scratch(struct python_scratch *scratch) {
  bpf_ringbuf_discard(scratch, BPF_RB_NO_WAKEUP);
}

#define add_python_chunk_in_memory add_python_chunk

#endif

/* From the leaf, which stands in the scratch, to the root. */
static __always_inline void follow_python_frames(const struct lumbre_python_process *process,
                                                 const struct capture *capture,
                                                 struct python_scratch *scratch,
                                                 struct lumbre_sample *sample) {
  struct python_walk walk = {.scratch = scratch, .capture = capture, .process = process};
  LUMBRE_LOOP(LUMBRE_MAX_PYTHON_CHUNKS, add_python_chunk_in_memory, &walk);
  sample->python_frames = scratch->frames;
  sample->python_chunks = scratch->chunks;
  sample->python_end = scratch->end;
}

static __always_inline void walk_python(struct task_struct *task, const struct capture *capture,
                                        struct lumbre_sample *sample) {
  __u32 pid = sample->task.visible_pid;
  const struct lumbre_python_process *process = bpf_map_lookup_elem(&python_processes, &pid);
  if (!process) {
    sample->python_end = LUMBRE_PYTHON_NONE;
    return;
  }
  __u64 state = find_thread_state(process, sample->task.address_space,
                                  LUMBRE_READ(task, thread.fsbase));
  __u64 frame = 0;
  __u64 cframe = 0;
  sample->python_end = LUMBRE_PYTHON_NO_THREAD;
  if (!state) {
    return;
  }
  if (read_leaf_frame(&process->layout, state, &frame, &cframe)) {
    sample->python_end = LUMBRE_PYTHON_FAULT;
    return;
  }
  if (!frame) {
    return;
  }
  struct python_scratch *scratch = take_python_scratch(process, capture);
  if (!scratch) {
    sample->python_end = LUMBRE_PYTHON_NO_ROOM;
    return;
  }
  scratch->address_space = sample->task.address_space;
  scratch->frame = frame;
  scratch->cframe = cframe;
  scratch->pid = pid;
  scratch->frames = 0;
  scratch->chunks = 0;
  scratch->end = LUMBRE_PYTHON_LIMIT;
  follow_python_frames(process, capture, scratch, sample);
  drop_python_scratch(scratch);
}

#endif
