/* The yardstick: the kernel's own frame-pointer walk of the user stack, and nothing else. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define MOST_FRAMES 127

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64[MOST_FRAMES]);
} stack SEC(".maps");

__u64 frames;
__u64 runs;
__u64 nanoseconds;

SEC("perf_event")
int walk(struct bpf_perf_event_data *context) {
  __u32 zero = 0;
  void *room = bpf_map_lookup_elem(&stack, &zero);
  if (!room) {
    return 0;
  }
  __u64 start = bpf_ktime_get_ns();
  long size = bpf_get_stack(context, room, MOST_FRAMES * sizeof(__u64), BPF_F_USER_STACK);
  if (size > 0) {
    __sync_fetch_and_add(&nanoseconds, bpf_ktime_get_ns() - start);
    __sync_fetch_and_add(&frames, size / sizeof(__u64));
    __sync_fetch_and_add(&runs, 1);
  }
  return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
