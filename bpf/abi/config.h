/* Settings that user space fixes before the programs are loaded (read-only to them). */
#ifndef LUMBRE_ABI_CONFIG_H
#define LUMBRE_ABI_CONFIG_H

#include "bpf/abi/types.h"

struct lumbre_config {
  __u32 is_whole_machine;      /* 0: only the processes in `targets` */
  __u32 follows_children;
  __u32 pid_namespace_inode;   /* of Lumbre itself; 0: it is the initial one */
  __u32 check_one_in; /* samples walked in the kernel that are copied, too, so that user space can
                          compare; 0: none */
  __u64 cpu_weight_ns;         /* nanoseconds that one cpu sample stands for; 0: a sample's weight
                                  is its period in cycles, which user space converts */
};

#endif
