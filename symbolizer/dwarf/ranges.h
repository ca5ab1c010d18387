// Code ranges of an entry: DW_AT_low_pc/high_pc, .debug_ranges (DWARF 2-4) and .debug_rnglists
// (DWARF 5, section 7.25). Empty ranges and those that lie in no code are left out.
#pragma once

#include <vector>

#include "symbolizer/dwarf/unit.h"
#include "symbolizer/dwarf/work_budget.h"

namespace lumbre::dwarf {

// Adds to `ranges`. Each list entry costs the budget one step; with none left the list ends.
void append_ranges(const UnitContext& unit, const PcAttributes& attributes, WorkBudget& budget,
                   std::vector<CodeRange>& ranges);

}  // namespace lumbre::dwarf
