/* Every loss and health counter of the kernel programs: name and sentence, in one list.
 * Kept per CPU; user space adds them up. */
#ifndef LUMBRE_ABI_COUNTERS_H
#define LUMBRE_ABI_COUNTERS_H

#define LUMBRE_COUNTERS(X)                                                                    \
  X(CHUNKS_NO_ROOM, "stack_ring_buffer_full", "stacks cut because the ring buffer was full")  \
  X(PROCESS_NO_ROOM, "process_events_lost", "process starts and ends lost in a full ring buffer") \
  X(CODE_NO_ROOM, "code_ring_buffer_full", "code objects whose early read found no room")     \
  X(TARGETS_FULL, "targets_full", "new processes that could not be followed, table full")     \
  X(CODE_RECORDS, "code_records", "code objects read in the kernel")                          \
  X(THREAD_SEARCHES, "thread_searches", "searches for a Python thread state")                 \
  X(NATIVE_FRAMES, "native_frames", "native frames walked in the kernel")                     \
  X(RULE_CACHE_MISSES, "rule_cache_misses", "of those, looked up in the tables")              \
  X(THREADS_FULL, "threads_full", "threads whose waits could not be followed, no memory")      \
  X(SWITCHES, "switches", "times that a thread in scope left a CPU")                         \
  X(SWITCHES_IN_MISSED, "switches_in_missed", "times that a thread was not seen to get a CPU") \
  X(SWITCHES_OUT_MISSED, "switches_out_missed", "times that a thread was not seen to leave a CPU") \
  X(WAITS_NO_ROOM, "wait_records_lost", "ends of waits lost in a full ring buffer")           \
  X(OUT_OF_SCOPE, "out_of_scope", "interrupts that hit processes outside the recording")

enum lumbre_counter {
#define LUMBRE_COUNTER_ENUM(id, name, text) LUMBRE_COUNTER_##id,
  LUMBRE_COUNTERS(LUMBRE_COUNTER_ENUM)
#undef LUMBRE_COUNTER_ENUM
  LUMBRE_COUNTER_COUNT
};

/* The same for each event (enum lumbre_event). */
#define LUMBRE_EVENT_COUNTERS(X)                                                    \
  X(SAMPLES, "samples", "samples taken in the scope of the recording")               \
  X(SENT, "sent", "samples handed to user space")                                    \
  X(NO_ROOM, "ring_buffer_full", "samples lost because the ring buffer was full")    \
  X(CAPTURE_NS, "capture_ns", "nanoseconds spent in taking samples")

enum lumbre_event_counter {
#define LUMBRE_EVENT_COUNTER_ENUM(id, name, text) LUMBRE_EVENT_COUNTER_##id,
  LUMBRE_EVENT_COUNTERS(LUMBRE_EVENT_COUNTER_ENUM)
#undef LUMBRE_EVENT_COUNTER_ENUM
  LUMBRE_EVENT_COUNTER_COUNT
};

#endif
