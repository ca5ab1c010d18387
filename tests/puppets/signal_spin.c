/* Spends its time inside a signal handler that interrupted `interrupted`: `signal_spin [SECONDS]`.
 * From the root: main;interrupted;raise...;<signal frame>;on_signal;handler_work. */
#include <signal.h>

#include "puppet.h"

volatile unsigned long sink;
static double end_time;

PUPPET_FUNCTION void handler_work(void) {
  while (puppet_clock(CLOCK_MONOTONIC) < end_time) {
    for (int i = 0; i < 2000000; ++i) sink++;
  }
}

PUPPET_FUNCTION void on_signal(int number) {
  (void)number;
  handler_work();
  PUPPET_NO_TAIL_CALL();
}

PUPPET_FUNCTION void interrupted(void) {
  raise(SIGUSR1);
  PUPPET_NO_TAIL_CALL();
}

int main(int argc, char** argv) {
  end_time = puppet_deadline(argc, argv, 1);
  struct sigaction action = {0};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, NULL);
  puppet_ready();
  interrupted();
  PUPPET_NO_TAIL_CALL();
  return 0;
}
