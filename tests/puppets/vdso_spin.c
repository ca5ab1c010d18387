/* All its time goes to clock_gettime: `vdso_spin [SECONDS]`. From the root: main;ask_time;
 * clock_gettime (libc);[vdso]. */
#include "puppet.h"

volatile long sink;

PUPPET_FUNCTION void ask_time(double until) {
  struct timespec now = {0};
  do {
    for (int i = 0; i < 10000; ++i) {
      clock_gettime(CLOCK_MONOTONIC, &now);
      sink += now.tv_nsec;
    }
  } while ((double)now.tv_sec < until);
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  ask_time(end);
  PUPPET_NO_TAIL_CALL();
  return 0;
}
