/* Thousands of mappings, then a spin: `many_maps [SECONDS] [PAGES]`. Every second page has another
 * protection, so that the kernel keeps each as a mapping of its own. */
#include <sys/mman.h>
#include <unistd.h>

#include "puppet.h"

volatile unsigned long sink;

PUPPET_FUNCTION void spin_here(double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) sink++;
  }
}

int main(int argc, char** argv) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t pages = argc > 2 ? (size_t)atol(argv[2]) : 20000;
  char* area = mmap(NULL, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return 1;
  for (size_t i = 0; i < pages; i += 2) mprotect(area + i * page, page, PROT_READ | PROT_EXEC);
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  spin_here(end);
  PUPPET_NO_TAIL_CALL();
  return 0;
}
