/* c loops on memcpy (assembly without a frame): `memcpy_leaf [SECONDS] [BYTES]`. */
#include <string.h>

#include "puppet.h"

PUPPET_FUNCTION void c(char* to, const char* from, size_t bytes, double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 64; ++i) {
      memcpy(to, from, bytes);
      PUPPET_NO_TAIL_CALL();
    }
  }
}

PUPPET_FUNCTION void b(char* to, const char* from, size_t bytes, double until) {
  c(to, from, bytes, until);
  PUPPET_NO_TAIL_CALL();
}

PUPPET_FUNCTION void a(char* to, const char* from, size_t bytes, double until) {
  b(to, from, bytes, until);
  PUPPET_NO_TAIL_CALL();
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  const size_t bytes = argc > 2 ? (size_t)atol(argv[2]) : 1 << 20;
  char* to = malloc(bytes);
  char* from = malloc(bytes);
  if (!to || !from) return 1;
  memset(to, 1, bytes);
  memset(from, 2, bytes);
  puppet_ready();
  a(to, from, bytes, end);
  return 0;
}
