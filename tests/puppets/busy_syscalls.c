/* Spends its time in the kernel: reads zeroes, a mebibyte at a time: `busy_syscalls [SECONDS]`. */
#include <fcntl.h>
#include <unistd.h>

#include "puppet.h"

static char buffer[1 << 20];

PUPPET_FUNCTION long read_zeroes(int file) {
  long total = 0;
  for (int i = 0; i < 100; ++i) total += read(file, buffer, sizeof buffer);
  return total;
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  const int file = open("/dev/zero", O_RDONLY);
  puppet_ready();
  while (puppet_clock(CLOCK_MONOTONIC) < end) {
    if (read_zeroes(file) == 0) return 1;
  }
  return 0;
}
