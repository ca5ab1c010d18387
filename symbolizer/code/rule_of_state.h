// From what is known at one instruction to the unwind rule there (bpf/abi/tables.h).
//
// None where the CFA cannot be told. A saved register that the rule cannot express, and one whose
// value at the entry is lost, is LUMBRE_SLOT_UNDEFINED. Any thread; no allocation.
#pragma once

#include <optional>

#include "bpf/abi/tables.h"
#include "symbolizer/code/frame_state.h"

namespace lumbre {

std::optional<lumbre_unwind_rule> rule_of_state(const FrameState& state,
                                                bool prefers_frame_pointer);

}  // namespace lumbre
