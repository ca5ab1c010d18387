/* Walks the Python frames of the current thread, without knowing its native stack.
 *
 * The thread's PyThreadState is found by its thread_id, which is pthread_self(), which on x86-64
 * is the FS base; so it is found while the GIL is released, too. Frames are followed from the
 * leaf to the root. Where eval calls begin and end is marked by addresses in the native stack
 * (`boundary`), by which user space joins the two walks. */
#ifndef LUMBRE_CORE_PYTHON_WALK_H
#define LUMBRE_CORE_PYTHON_WALK_H

#include <bpf/bpf_core_read.h>

#include "bpf/core/python_code.h"
#include "bpf/core/record.h"
#include "bpf/kernel_types.h"

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

/* bpf_loop callback: one thread state (or the step to the next interpreter). 1 ends the loop. */
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
  bpf_loop(LUMBRE_MAX_THREAD_STATES, check_thread_state, &search, 0);
  value.state = search.found;
  bpf_map_update_elem(&thread_states, &key, &value, BPF_ANY);
  return search.found;
}

struct python_walk {
  const struct capture *capture;
  const struct lumbre_python_process *process;
  struct lumbre_python_chunk *chunk; /* null between chunks */
  __u64 address_space;
  __u64 frame;
  __u64 cframe; /* 3.11, 3.12 */
  __u32 pid;
  __u32 filled; /* entries in `chunk` */
  __u32 frames;
  __u32 chunks;
  __u32 end;
  __u32 padding;
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
static __always_inline __u64 pop_cframe(struct python_walk *walk) {
  __u64 cframe = walk->cframe;
  if (read_user_word(cframe + walk->process->layout.cframe_previous, &walk->cframe)) {
    walk->cframe = 0;
  }
  return cframe ? cframe : 1;
}

/* Reads the frame's fields into `entry`; 0 or the reason to stop. */
static __always_inline __u32 read_python_frame(struct python_walk *walk,
                                               struct lumbre_python_frame *entry) {
  const struct lumbre_python_layout *layout = &walk->process->layout;
  __u64 words[LUMBRE_FRAME_WORDS] = {};
  __u32 size = layout->frame_bytes;
  if (size > sizeof(words) ||
      bpf_probe_read_user(words, size, (const void *)walk->frame)) {
    return LUMBRE_PYTHON_FAULT;
  }
  __u64 this_frame = walk->frame;
  walk->frame = word_at(words, layout->frame_back);
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
  return check_code_object(walk->process, walk->capture, walk->address_space, walk->pid, entry);
}

/* bpf_loop callback: one frame into the chunk. 1 ends the loop. */
static long add_python_frame(__u32 index, void *context) {
  struct python_walk *walk = context;
  struct lumbre_python_chunk *chunk = walk->chunk;
  if (!chunk || index >= LUMBRE_PYTHON_CHUNK_FRAMES) {
    return 1;
  }
  if (!walk->frame) {
    walk->end = LUMBRE_PYTHON_ROOT;
    return 1;
  }
  struct lumbre_python_frame entry;
  __u32 failure = read_python_frame(walk, &entry);
  if (failure) {
    walk->end = failure;
    return 1;
  }
  chunk->frame[index] = entry;
  walk->filled = index + 1;
  return 0;
}

/* bpf_loop callback: one chunk of frames. 1 ends the loop. */
static long add_python_chunk(__u32 index, void *context) {
  struct python_walk *walk = context;
  struct lumbre_python_chunk *chunk = bpf_ringbuf_reserve(&events, sizeof(*chunk), 0);
  if (!chunk) {
    count(LUMBRE_COUNTER_CHUNKS_NO_ROOM);
    walk->end = LUMBRE_PYTHON_NO_ROOM;
    return 1;
  }
  walk->chunk = chunk;
  walk->filled = 0;
  bpf_loop(LUMBRE_PYTHON_CHUNK_FRAMES, add_python_frame, walk, 0);
  walk->chunk = 0;
  fill_header(&chunk->header, LUMBRE_RECORD_PYTHON_CHUNK, walk->capture);
  chunk->count = walk->filled;
  chunk->index = index;
  if (walk->filled == 0) {
    bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
    return 1;
  }
  bpf_ringbuf_submit(chunk, BPF_RB_NO_WAKEUP);
  walk->frames += walk->filled;
  walk->chunks++;
  return walk->end != LUMBRE_PYTHON_LIMIT;
}

static __always_inline void walk_python(struct task_struct *task, const struct capture *capture,
                                        struct lumbre_sample *sample) {
  __u32 pid = sample->task.visible_pid;
  const struct lumbre_python_process *process = bpf_map_lookup_elem(&python_processes, &pid);
  if (!process) {
    sample->python_end = LUMBRE_PYTHON_NONE;
    return;
  }
  struct python_walk walk = {.capture = capture, .process = process,
                             .address_space = sample->task.address_space,
                             .pid = sample->task.visible_pid, .end = LUMBRE_PYTHON_LIMIT};
  __u64 thread_id = task->thread.fsbase;
  __u64 state = find_thread_state(process, walk.address_space, thread_id);
  if (!state) {
    sample->python_end = LUMBRE_PYTHON_NO_THREAD;
    return;
  }
  if (read_leaf_frame(&process->layout, state, &walk.frame, &walk.cframe)) {
    sample->python_end = LUMBRE_PYTHON_FAULT;
    return;
  }
  if (!walk.frame) {
    sample->python_end = LUMBRE_PYTHON_NO_THREAD;
    return;
  }
  bpf_loop(LUMBRE_MAX_PYTHON_CHUNKS, add_python_chunk, &walk, 0);
  sample->python_frames = walk.frames;
  sample->python_chunks = walk.chunks;
  sample->python_end = walk.end;
}

#endif
