/* Records in the ring buffer. Every byte of a sample is written straight into memory reserved
 * there: no per-CPU scratch exists that a program of ours could find half-written by another one
 * that it interrupted. */
#ifndef LUMBRE_CORE_RECORD_H
#define LUMBRE_CORE_RECORD_H

#include "bpf/maps.h"

/* What one sample's pieces share. */
struct capture {
  __u64 time_ns;
  __u32 cpu;
  __u32 padding;
};

static __always_inline void fill_header(struct lumbre_record_header *header, __u16 kind,
                                        const struct capture *capture) {
  header->version = LUMBRE_ABI_VERSION;
  header->kind = kind;
  header->cpu = capture->cpu;
  header->time_ns = capture->time_ns;
}

static __always_inline void start_capture(struct capture *capture) {
  capture->time_ns = bpf_ktime_get_ns();
  capture->cpu = bpf_get_smp_processor_id();
  capture->padding = 0;
}

#endif
