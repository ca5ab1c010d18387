/* The library that dlopen_many loads in many copies. */
#include "puppet.h"

volatile unsigned long library_sink;

PUPPET_FUNCTION void library_spin(double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) library_sink++;
  }
}
