/* Functions that realign the stack (64-byte aligned locals), whose caller is found through a
 * pointer kept in the frame: `realign [SECONDS]`. From the root: main;outer;middle;inner. */
#include "puppet.h"

volatile unsigned long sink;

typedef struct {
  uint64_t lane[8] __attribute__((aligned(64)));
} Lanes;

PUPPET_FUNCTION void touch(Lanes* lanes) {
  for (int i = 0; i < 8; ++i) lanes->lane[i] += sink;
}

PUPPET_FUNCTION uint64_t inner(size_t extra, double until) {
  Lanes lanes = {{0}};
  volatile char* scratch = __builtin_alloca(extra);
  scratch[0] = 1;
  touch(&lanes);
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) sink++;
  }
  touch(&lanes);
  return lanes.lane[3] + (uint64_t)scratch[0];
}

PUPPET_FUNCTION uint64_t middle(size_t extra, double until) {
  Lanes lanes = {{0}};
  touch(&lanes);
  const uint64_t result = inner(extra, until);
  touch(&lanes);
  return result + lanes.lane[1];
}

PUPPET_FUNCTION uint64_t outer(size_t extra, double until) {
  Lanes lanes = {{0}};
  touch(&lanes);
  const uint64_t result = middle(extra, until);
  touch(&lanes);
  return result + lanes.lane[2];
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  return outer((size_t)argc * 40, end) == 12345;
}
