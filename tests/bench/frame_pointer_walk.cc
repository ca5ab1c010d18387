// Times bpf_get_stack(BPF_F_USER_STACK) on one process: `frame_pointer_walk PID SECONDS HZ` prints
// {"runs": n, "frames_per_run": f, "ns_per_run": t}.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <bpf/libbpf.h>

#include "frame_pointer_walk.skel.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: frame_pointer_walk PID SECONDS HZ\n");
    return 2;
  }
  frame_pointer_walk* walk = frame_pointer_walk__open_and_load();
  if (walk == nullptr) {
    std::perror("load");
    return 1;
  }
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.freq = 1;
  attributes.sample_freq = std::strtoull(argv[3], nullptr, 10);
  const int event = static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, std::atoi(argv[1]), -1, -1, 0));
  bpf_link* link = event < 0 ? nullptr : bpf_program__attach_perf_event(walk->progs.walk, event);
  if (link == nullptr) {
    std::perror("attach");
    return 1;
  }
  ::usleep(static_cast<useconds_t>(std::atof(argv[2]) * 1e6));
  const double runs = static_cast<double>(walk->bss->runs);
  std::printf("{\"runs\": %.0f, \"frames_per_run\": %.2f, \"ns_per_run\": %.0f}\n", runs,
              static_cast<double>(walk->bss->frames) / runs,
              static_cast<double>(walk->bss->nanoseconds) / runs);
  bpf_link__destroy(link);
  frame_pointer_walk__destroy(walk);
  return 0;
}
