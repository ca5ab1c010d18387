/* Two callers of hand-written loops that have no unwind data: `no_unwind_data [SECONDS]`. From the
 * root: main;paint;red or blue;kernel_..._red or _blue[;compiled_work]. */
#include "puppet.h"

#define KERNELS(colour)                              \
  uint64_t kernel_realigned_##colour(uint64_t rounds); \
  uint64_t kernel_pushing_##colour(uint64_t rounds);   \
  uint64_t kernel_calling_##colour(uint64_t rounds);
KERNELS(red)
KERNELS(blue)

static const uint64_t kRounds = 500000;

PUPPET_FUNCTION uint64_t compiled_work(uint64_t rounds) { return puppet_chain(rounds, rounds); }

#define CALLER(colour)                                        \
  PUPPET_FUNCTION uint64_t colour(uint64_t x) {               \
    x += kernel_realigned_##colour(kRounds);                  \
    x += kernel_pushing_##colour(kRounds);                    \
    return x + kernel_calling_##colour(kRounds);              \
  }
CALLER(red)
CALLER(blue)

PUPPET_FUNCTION uint64_t paint(double until) {
  uint64_t x = 0;
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    x += red(x);
    x += blue(x);
  }
  return x;
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  return paint(end) == 12345;
}
