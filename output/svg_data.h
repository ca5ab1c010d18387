// The whole flame graph as compact JSON for the script: strings once, frames as indices, nodes in
// depth-first order as parallel arrays of small numbers. assets/flamegraph.js reads it; its
// comment "the data" mirrors this one.
//
// Every list of numbers is one string: base 36, with commas between them, nothing for 0 (most are):
//   frames   6 for each frame at a line: name, whole name, file, module, kind + 8 * inlined +
//            16 * shade, line (0: unknown); the first four are indices into strings[]
//   up       by node: how many levels up from a child of the node before
//   frame    by node: an index into frames / 6
//   self     by node: in units of `divisor`
//   places   3 for each node that was at several places: how far behind the last such node, how
//            many places, percent at the named one
//   base     by node, differential: share of the base's total in units of 1e-7
#pragma once

#include <string>

#include "output/flamegraph.h"
#include "output/svg.h"

namespace lumbre::output {

void append_data(const Flamegraph& graph, const SvgOptions& options, std::string& out);

}  // namespace lumbre::output
