/* main calls a, a calls b, b calls c, c loops: `spin [SECONDS] [--count]`. With --count it prints
 * once a second how far the counter came and the CPU seconds that took: the speed is the proof that
 * nobody slowed it down. */
#include <string.h>

#include "puppet.h"

volatile unsigned long sink;

#ifdef SPIN_BIG_LOCALS
#define SPIN_LOCALS()                  \
  volatile char locals[SPIN_BIG_LOCALS]; \
  locals[sink % SPIN_BIG_LOCALS] = 1
#else
#define SPIN_LOCALS() (void)0
#endif

PUPPET_FUNCTION void c(double until) {
  SPIN_LOCALS();
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) sink++;
  }
}

PUPPET_FUNCTION void b(double until) {
  SPIN_LOCALS();
  c(until);
  PUPPET_NO_TAIL_CALL();
}

PUPPET_FUNCTION void a(double until) {
  SPIN_LOCALS();
  b(until);
  PUPPET_NO_TAIL_CALL();
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  const int count = argc > 2 && strcmp(argv[2], "--count") == 0;
  puppet_ready();
  while (puppet_clock(CLOCK_MONOTONIC) < end) {
    const double until = puppet_clock(CLOCK_MONOTONIC) + 1;
    a(count && until < end ? until : end);
    if (count) {
      printf("%lu %.6f\n", sink, puppet_clock(CLOCK_PROCESS_CPUTIME_ID));
      fflush(stdout);
    }
  }
  return 0;
}
