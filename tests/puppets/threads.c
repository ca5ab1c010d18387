/* Threads that sleep and some that work: `threads [SECONDS] [SLEEPING] [BUSY]`. */
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "puppet.h"

volatile unsigned long sink;
static double end_time;

PUPPET_FUNCTION static void busy_loop(void) {
  unsigned long local = 0;
  while (puppet_clock(CLOCK_MONOTONIC) < end_time) {
    for (int i = 0; i < 2000000; ++i) __asm__ volatile("" : "+r"(local));
    sink += local;
  }
}

static void* busy_thread(void* unused) {
  prctl(PR_SET_NAME, "busy");
  busy_loop();
  PUPPET_NO_TAIL_CALL();
  return unused;
}

static void* sleeping_thread(void* unused) {
  prctl(PR_SET_NAME, "sleeping");
  while (puppet_clock(CLOCK_MONOTONIC) < end_time) usleep(500000);
  return unused;
}

int main(int argc, char** argv) {
  end_time = puppet_deadline(argc, argv, 1);
  const int sleeping = argc > 2 ? atoi(argv[2]) : 0;
  const int busy = argc > 3 ? atoi(argv[3]) : 1;
  pthread_t thread;
  for (int i = 0; i < sleeping; ++i) pthread_create(&thread, NULL, sleeping_thread, NULL);
  for (int i = 0; i < busy; ++i) pthread_create(&thread, NULL, busy_thread, NULL);
  puppet_ready();
  while (puppet_clock(CLOCK_MONOTONIC) < end_time) usleep(50000);
  return 0;
}
