/* What bpf/core/native_step.h asks of its surroundings, in a kernel program: stack words come from a
 * copy of the block that they are on. */
#ifndef LUMBRE_PLATFORM_H
#define LUMBRE_PLATFORM_H

#include "bpf/abi/limits.h"
#include "bpf/platform/lumbre_kernel.h"

/* Too large for the stack of a kernel program: it stands in a ring buffer record that is discarded
 * in the end. */
struct lumbre_stack_reader {
  __u64 start; /* of the block in the window; 1: none */
  __u64 word;  /* the last one read */
  __u8 window[LUMBRE_STACK_WINDOW_BYTES];
};

/* A word outside the window: moves it to that word's block, unless it lies below (a register that was
 * saved before the return address which the walk has already seen). Returns 0, or -1 where the word
 * is not readable. */
static __always_inline int move_window(struct lumbre_stack_reader *reader, __u64 address) {
  __u64 block = address & ~(__u64)(LUMBRE_STACK_WINDOW_BYTES - 1);
  __u64 offset = address - block;
  if (offset <= LUMBRE_STACK_WINDOW_BYTES - sizeof(reader->word) &&
      (address > reader->start || reader->start == 1)) {
    reader->start = 1;
    if (bpf_probe_read_user(reader->window, LUMBRE_STACK_WINDOW_BYTES, (const void *)block)) {
      return -1;
    }
    reader->start = block;
    reader->word = *(__u64 *)(reader->window + offset);
    return 0;
  }
  return bpf_probe_read_user(&reader->word, sizeof(reader->word), (const void *)address) ? -1 : 0;
}

#ifdef LUMBRE_CLASSIC

LUMBRE_GLOBAL int lumbre_fetch_stack_word_here(__u64 address) {
  struct lumbre_stack_reader *reader = lumbre_find_walk_memory(); /* struct native_scratch */
  return reader ? move_window(reader, address) : -1;
}

#define lumbre_fetch_stack_word(reader, address) lumbre_fetch_stack_word_here(address)

#else

LUMBRE_GLOBAL int lumbre_fetch_stack_word(struct lumbre_stack_reader *reader, __u64 address) {
  return reader ? move_window(reader, address) : -1;
}

#endif

static __always_inline int lumbre_read_stack_word(struct lumbre_stack_reader *reader,
                                                  __u64 address, __u64 *value) {
  __u64 offset = address - reader->start;
  /* The bound is tested on the very register that indexes. */
  __asm__ volatile("" : "+r"(offset));
  if (offset <= LUMBRE_STACK_WINDOW_BYTES - sizeof(*value)) {
    *value = *(__u64 *)(reader->window + offset);
    return 0;
  }
  int failure = lumbre_fetch_stack_word(reader, address);
  *value = reader->word;
  return failure;
}

#endif
