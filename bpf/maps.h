/* Every map of the kernel programs, in one place. */
#ifndef LUMBRE_MAPS_H
#define LUMBRE_MAPS_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi/config.h"
#include "bpf/abi/counters.h"
#include "bpf/abi/events.h"
#include "bpf/abi/waits.h"

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

/* LUMBRE_EVENT_COUNTER_COUNT for each event. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, LUMBRE_EVENT_COUNT * LUMBRE_EVENT_COUNTER_COUNT);
  __type(key, __u32);
  __type(value, __u64);
} event_counters SEC(".maps") __weak;

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

/* Processes whose native frames are walked in the kernel, by visible pid; inherited over fork. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, __u32);
  __type(value, struct lumbre_native_process);
} native_processes SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LUMBRE_MAX_CODE_RANGES);
  __type(key, __u32);
  __type(value, struct lumbre_code_range);
} code_ranges SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, LUMBRE_MAX_PAGES);
  __type(key, struct lumbre_page_key);
  __type(value, struct lumbre_page);
} unwind_pages SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LUMBRE_MAX_ROWS / LUMBRE_ROWS_PER_ELEMENT);
  __type(key, __u32);
  __type(value, struct lumbre_row_element);
} unwind_rows SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(map_flags, BPF_F_MMAPABLE);
  __uint(max_entries, LUMBRE_MAX_RULES);
  __type(key, __u32);
  __type(value, struct lumbre_unwind_rule);
} unwind_rules SEC(".maps") __weak;

/* Which rule holds at an address of a process: 32 bits of the key's hash, 32 bits of rule index. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1 << LUMBRE_RULE_CACHE_BITS);
  __type(key, __u32);
  __type(value, __u64);
} rule_cache SEC(".maps") __weak;

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
  __uint(max_entries, 16384);
  __type(key, struct lumbre_code_key);
  __type(value, __u32);
} sent_codes SEC(".maps") __weak;

/* Threads in scope (event offcpu): begun outside of the scheduler, where memory can be had. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct lumbre_thread);
} threads SEC(".maps") __weak;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct lumbre_wait_settings);
} wait_settings SEC(".maps") __weak;

#ifdef LUMBRE_CLASSIC

/* What a walk on this CPU keeps between its turns (bpf/platform/lumbre_kernel.h). */
#define LUMBRE_WALK_MEMORY_BYTES 2048

struct lumbre_walk_memory {
  __u64 word[LUMBRE_WALK_MEMORY_BYTES / sizeof(__u64)];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct lumbre_walk_memory);
} walk_memory SEC(".maps") __weak;

#endif

extern const volatile struct lumbre_config config;

static __always_inline void count_many(__u32 counter, __u64 many) {
  __u64 *value = bpf_map_lookup_elem(&counters, &counter);
  if (value) {
    /* Atomic: a program of ours may interrupt another on the same CPU. */
    __sync_fetch_and_add(value, many);
  }
}

static __always_inline void count(__u32 counter) { count_many(counter, 1); }

static __always_inline void count_event(__u32 event, __u32 counter, __u64 many) {
  __u32 key = event * LUMBRE_EVENT_COUNTER_COUNT + counter;
  __u64 *value = bpf_map_lookup_elem(&event_counters, &key);
  if (value) {
    __sync_fetch_and_add(value, many);
  }
}

#endif
