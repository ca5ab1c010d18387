// One step of a native walk in user space: from a frame's registers to its caller's, by a compact
// rule (the very code of the kernel programs, bpf/core/native_step.h) or by a whole CFI row.
//
// Unless the result is LUMBRE_STEP_OK the registers are not to be used any further. Look a frame's
// row up at rip in the leaf and behind a signal frame, at rip - 1 everywhere else. The caller
// bounds the number of steps. Any thread; no allocation.
#pragma once

#include "bpf/core/native_step_result.h"
#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/dwarf/expression.h"

namespace lumbre {

using StepResult = lumbre_step_result;

StepResult step_by_rule(const lumbre_unwind_rule& rule, lumbre_registers& registers,
                        StackReader& stack);

// Every rule kind of DWARF 5. `bias` is the module's run-time address minus its image address.
StepResult step_by_row(const CfiRow& row, lumbre_registers& registers, StackReader& stack,
                       std::uint64_t bias);

}  // namespace lumbre
