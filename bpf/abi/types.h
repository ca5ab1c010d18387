/* Fixed-width integer names for the headers that kernel programs and user space share.
 * Kernel programs get them from vmlinux.h, user space from <linux/types.h>. */
#ifndef LUMBRE_ABI_TYPES_H
#define LUMBRE_ABI_TYPES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define LUMBRE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define LUMBRE_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#endif
