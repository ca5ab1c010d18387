// The two sets of kernel programs: the usual one, and the classic one, the same sources compiled
// for what Linux 5.10 has (bpf/platform/lumbre_kernel.h). Both have the same programs and maps, so
// one skeleton serves either. The classic set serves the event `cpu` alone. Any thread.
#pragma once

struct lumbre_bpf;

namespace lumbre {

enum class ProgramSet { kUsual, kClassic };

// Not loaded yet; null with errno set where it cannot be opened.
lumbre_bpf* open_programs(ProgramSet set);

// For tests: only the classic set is tried (LUMBRE_KERNEL_PROGRAMS=classic).
bool is_classic_forced();

}  // namespace lumbre
