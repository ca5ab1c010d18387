/* What every puppet shares: when it ends, and attributes that keep a function a function.
 * Plain C, used from C++ too. A puppet prints "ready" (or one line of JSON) when its behaviour
 * starts, so that a test waits for that and never sleeps. */
#ifndef LUMBRE_TESTS_PUPPETS_PUPPET_H_
#define LUMBRE_TESTS_PUPPETS_PUPPET_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__clang__)
#define PUPPET_FUNCTION __attribute__((noinline))
#else
/* noipa: also no clones (.constprop, .isra), no merging of equal bodies. */
#define PUPPET_FUNCTION __attribute__((noipa))
#endif
#define PUPPET_INLINE static inline __attribute__((always_inline))
/* After a call: keeps it from becoming a jump. */
#define PUPPET_NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

PUPPET_INLINE double puppet_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The time at which to end: argv[index] seconds from now, 10 by default, 600 at most. */
static inline double puppet_deadline(int argc, char** argv, int index) {
  double seconds = argc > index ? atof(argv[index]) : 10.0;
  if (!(seconds > 0)) seconds = 10.0;
  if (seconds > 600) seconds = 600;
  return puppet_clock(CLOCK_MONOTONIC) + seconds;
}

static inline void puppet_ready(void) {
  puts("ready");
  fflush(stdout);
}

/* A chain of multiplications: each step waits for the one before, so that its time depends on the
 * count alone and not on where the linker put the loop. */
PUPPET_INLINE uint64_t puppet_chain(uint64_t x, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
  return x;
}

#endif /* LUMBRE_TESTS_PUPPETS_PUPPET_H_ */
