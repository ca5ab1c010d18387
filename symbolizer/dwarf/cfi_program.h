// Runs the call frame instructions of one FDE and hands out its rows (DWARF 5, section 6.4.2).
//
// An unknown or malformed instruction ends the run; rows completed before it stand. Any thread
// that owns the section; stack memory only, but for remembered states (at most
// kMaxRememberedStates). Cost: one step per instruction up to the row at which the visitor stops.
#pragma once

#include <functional>

#include "symbolizer/dwarf/cfi_section.h"

namespace lumbre {

inline constexpr std::size_t kMaxRememberedStates = 64;

// Returns false to stop. The row is valid during the call.
using RowVisitor = std::function<bool(const CfiRow&)>;

// False where an instruction was unknown or malformed (the visitor's own stop is no failure).
bool for_each_row(const CfiSection& section, const FrameEntry& entry, const RowVisitor& visit);

}  // namespace lumbre
