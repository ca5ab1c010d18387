// The whole flame graph as compact JSON for the script: strings once, frames as indices, nodes in
// depth-first order as parallel arrays of small numbers. assets/flamegraph.js reads it; its
// comment "the data" mirrors this one.
//
//   strings[], frames[] (5 numbers each: name, whole name, file, module, kind + 8 * inlined +
//   16 * shade), depth[] (relative to the node before), frame[] (index into frames / 5), self[]
//   (in units of `divisor`), line[] (0: unknown), places[] (3 numbers for each node that was at
//   several places: how far behind the last such node, how many, percent at the named one),
//   base[] (differential: share of the base's total in units of 1e-7)
#pragma once

#include <string>

#include "output/flamegraph.h"
#include "output/svg.h"

namespace lumbre::output {

void append_data(const Flamegraph& graph, const SvgOptions& options, std::string& out);

}  // namespace lumbre::output
