// Jump tables: from the state at an indirect jump to the places it may go to.
//
// Known are the two forms of compilers: 4-byte distances from the table (or from another known
// address), added to it, and 8-byte addresses. Their length is what the last comparison with a
// constant says, else they end with the first entry that leads out of the function.
#pragma once

#include <vector>

#include "symbolizer/code/frame_state.h"
#include "symbolizer/code/function_rules.h"

namespace lumbre {

inline constexpr std::size_t kMaxTableEntries = 4096;

// Empty where the jump is not understood.
std::vector<std::uint64_t> read_jump_table(const Instruction& jump, const FrameState& state,
                                           const FunctionCode& code);

}  // namespace lumbre
