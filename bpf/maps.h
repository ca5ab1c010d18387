/* Every map of the kernel programs, in one place. */
#ifndef LUMBRE_MAPS_H
#define LUMBRE_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/events.h"

/* All records to user space; sized before loading (--ring-bytes). */
struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 8 * 1024 * 1024);
} events SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LUMBRE_COUNTER_COUNT);
  __type(key, __u32);
  __type(value, __u64);
} counters SEC(".maps") __weak;

/* Processes in scope, by visible pid. Forked children enter in the fork itself. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u32);
  __type(value, __u32);
} targets SEC(".maps") __weak;

/* Processes with a CPython, by visible pid; inherited over fork, dropped at exec. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct lumbre_python_process);
} python_processes SEC(".maps") __weak;

struct lumbre_thread_key {
  __u64 address_space;
  __u64 thread_id;
};

/* Where a thread's PyThreadState is (0: it has none), as long as the list of thread states starts
 * at `head`: a new one is put there. */
struct lumbre_thread_value {
  __u64 state;
  __u64 head;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 8192);
  __type(key, struct lumbre_thread_key);
  __type(value, struct lumbre_thread_value);
} thread_states SEC(".maps") __weak;

struct lumbre_code_key {
  __u64 address_space;
  __u64 code;
  __u64 check;
};

/* Code objects already sent. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 32768);
  __type(key, struct lumbre_code_key);
  __type(value, __u32);
} sent_codes SEC(".maps") __weak;

extern const volatile struct lumbre_config config;

static __always_inline void count(__u32 counter) {
  __u64 *value = bpf_map_lookup_elem(&counters, &counter);
  if (value) {
    /* Atomic: a program of ours may interrupt another on the same CPU. */
    __sync_fetch_and_add(value, 1);
  }
}

#endif
