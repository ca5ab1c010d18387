/* Waiting: the reasons, what is kept about each thread, and the records of waits that ended. */
#ifndef LUMBRE_ABI_WAITS_H
#define LUMBRE_ABI_WAITS_H

#include "bpf/abi/events.h"

/* Reason, the value of the label `wait`, sentence. */
#define LUMBRE_WAITS(X)                                                                         \
  X(OTHER, "other", "something that has no label of its own")                                   \
  X(RUNNABLE, "runnable", "ready to run, but no CPU was free for it")                           \
  X(NET, "net", "a socket")                                                                     \
  X(DISK, "disk", "a file or a block device")                                                   \
  X(FUTEX, "futex", "a lock or condition of user space")                                        \
  X(GIL, "gil", "the interpreter lock of CPython")                                              \
  X(EPOLL, "epoll", "any of several files (epoll, poll, select)")                               \
  X(PIPE, "pipe", "a pipe")                                                                     \
  X(SLEEP, "sleep", "a time")                                                                   \
  X(CHILD, "child", "the end of a child process")                                               \
  X(GPU, "gpu", "the device file of a GPU")                                                     \
  X(PAGEFAULT, "pagefault", "a page of memory that had to be brought in")

enum lumbre_wait {
#define LUMBRE_WAIT_ENUM(id, name, text) LUMBRE_WAIT_##id,
  LUMBRE_WAITS(LUMBRE_WAIT_ENUM)
#undef LUMBRE_WAIT_ENUM
  LUMBRE_WAIT_COUNT
};

struct lumbre_wait_total {
  __u64 ns;
  __u64 count;
};

enum lumbre_thread_state {
  LUMBRE_THREAD_UNKNOWN = 0, /* no switch was seen yet: it runs, or is not followed any more */
  LUMBRE_THREAD_RUNS = 1,
  LUMBRE_THREAD_WAITS = 2,
};

enum lumbre_wait_flag {
  LUMBRE_WAIT_SAMPLED = 1, /* its stack was taken when it began, with `probability` */
  LUMBRE_WAIT_LOOKED = 2,  /* its stack was asked for while it lasted */
  LUMBRE_WAIT_OPEN = 4,    /* it had begun when the recording did */
  LUMBRE_WAIT_WOKEN = 8,   /* the stack of the thread that ended it was taken */
};

/* One thread, from its first switch on. All times are CLOCK_MONOTONIC. */
struct lumbre_thread {
  struct lumbre_task task;
  __u64 since_ns;    /* when the present state began */
  __u64 woken_ns;    /* WAITS: when it was made runnable; 0: it was not yet */
  __u64 run_ns;      /* on a CPU, up to `since_ns` */
  __u64 first_ns;    /* when this account began */
  __u64 scheduled_ns; /* the scheduler's account of run time when the thread left a CPU last */
  __u32 state;       /* enum lumbre_thread_state */
  __u32 wait;        /* WAITS: enum lumbre_wait */
  __u32 flags;       /* WAITS: enum lumbre_wait_flag */
  __u32 probability; /* of SAMPLED, in units of 1/(2^32-1) */
  __u64 detail;      /* WAITS: futex: the address; net: the socket's inode; else 0 */
  __u64 mean_ns[LUMBRE_WAIT_COUNT]; /* of recent waits; 0: none yet */
  struct lumbre_wait_total total[LUMBRE_WAIT_COUNT]; /* of ended waits */
};

/* The end of a wait whose stack was taken or asked for, or that was long. */
struct lumbre_wait_record {
  struct lumbre_record_header header;
  __u32 host_tid;
  __u32 wait;
  __u64 since_ns; /* with the thread, what identifies the wait */
  __u64 blocked_ns;
  __u64 runnable_ns;
  __u32 flags;
  __u32 probability;
};

/* A thread's account: the whole one where it ended, else as it stands (it was asked for). */
struct lumbre_thread_record {
  struct lumbre_record_header header;
  __u32 is_ended;
  __u32 padding;
  struct lumbre_thread thread;
};

/* What user space may change while recording: one value. */
struct lumbre_wait_settings {
  __u64 begin_ns;         /* when the recording began: threads not seen before ran or waited since */
  __u64 certain_ns;       /* waits with at least this mean have their stack taken always */
  __u64 long_ns;          /* a wait of this length is always reported */
  __u64 look_minimum_ns;  /* lumbre_look: takes the waits that last at least so long */
  __u64 waker_minimum_ns; /* of waits that last so long the waker's stack is taken; 0: of none */
  __u32 look_opens;       /* it begins the accounts of threads that have none */
  __u32 look_sends;       /* it sends all accounts instead */
};

#endif
