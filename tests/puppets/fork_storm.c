/* Starts short-lived processes at a bounded rate, each busy for a given time:
 * `fork_storm [SECONDS] [PER_SECOND] [BUSY_MILLISECONDS]`. Prints the CPU seconds of all of its
 * children at its end, as the kernel counted them. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "puppet.h"

volatile unsigned long sink;

PUPPET_FUNCTION void short_life(double busy_seconds) {
  const double until = puppet_clock(CLOCK_THREAD_CPUTIME_ID) + busy_seconds;
  while (puppet_clock(CLOCK_THREAD_CPUTIME_ID) < until) {
    for (int i = 0; i < 20000; ++i) sink++;
  }
}

static void wait_until(double when) {
  const double left = when - puppet_clock(CLOCK_MONOTONIC);
  if (left <= 0) return;
  struct timespec pause = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&pause, NULL);
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  const double per_second = argc > 2 ? atof(argv[2]) : 20;
  const double busy_seconds = (argc > 3 ? atof(argv[3]) : 10) / 1000;
  puppet_ready();
  double next = puppet_clock(CLOCK_MONOTONIC);
  while (next < end) {
    const pid_t child = fork();
    if (child == 0) {
      short_life(busy_seconds);
      _exit(0);
    }
    next += 1 / per_second;
    wait_until(next);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
  }
  while (waitpid(-1, NULL, 0) > 0) {
  }
  struct rusage children;
  getrusage(RUSAGE_CHILDREN, &children);
  printf("{\"children_cpu_s\": %.6f}\n",
         (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
             (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1e-6);
  return 0;
}
