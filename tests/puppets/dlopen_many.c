/* Loads copies libspin.so.0 ... libspin.so.(N-1) of a folder and spins in the last:
 * `dlopen_many FOLDER COUNT [SECONDS]`. */
#include <dlfcn.h>

#include "puppet.h"

PUPPET_FUNCTION void call_library(void (*spin)(double), double until) {
  spin(until);
  PUPPET_NO_TAIL_CALL();
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  void (*spin)(double) = NULL;
  for (int i = 0; i < atoi(argv[2]); ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/libspin.so.%d", argv[1], i);
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    *(void**)&spin = dlsym(library, "library_spin");
  }
  if (!spin) return 1;
  const double end = puppet_deadline(argc, argv, 3);
  puppet_ready();
  call_library(spin, end);
  return 0;
}
