// On-CPU samples: one run per perf event overflow on each CPU (hardware cycles or cpu-clock).
#include <linux/bpf_perf_event.h>

#include "bpf/core/capture.h"

const volatile struct lumbre_config config = {};

SEC("perf_event")
int lumbre_cpu_sample(struct bpf_perf_event_data *context) {
  if (!is_in_scope(lumbre_current_task())) {
    count(LUMBRE_COUNTER_OUT_OF_SCOPE);
    return 0;
  }
  struct capture_request request = {
      .event = LUMBRE_EVENT_CPU,
      .probability = 0xffffffff,
      .weight = config.cpu_weight_ns ? config.cpu_weight_ns : context->sample_period};
  /* The registers seem to stand in the context, where the verifier turns each load into one from
   * where they really are. Whoever reads them by a helper has to follow the pointer. */
  const struct bpf_perf_event_data_kern *inner = (const void *)context;
  capture_sample(context, BPF_CORE_READ(inner, regs), &request);
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
