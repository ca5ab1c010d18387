/* Recursion of a given depth with all the time at its bottom: `deep [SECONDS] [DEPTH]`. */
#include "puppet.h"

volatile unsigned long sink;

PUPPET_FUNCTION void bottom(double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) sink++;
  }
}

PUPPET_FUNCTION long rec(long n, double until) {
  if (n == 0) {
    bottom(until);
    PUPPET_NO_TAIL_CALL();
    return 1;
  }
  const long r = rec(n - 1, until);
  sink++;
  return r + 1;
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  return rec(argc > 2 ? atol(argv[2]) : 400, end) == 0;
}
