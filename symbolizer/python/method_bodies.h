// The parts of a method that a compiler placed outside its function: what it leaves by a jump (a
// tail call to its implementation, a split-off cold path), so that the stack shows the part alone.
//
// Named only where control can come from nowhere else: every direct branch to the part lies in the
// one method, and its address is nowhere in the file, neither in code nor in data. Bytes are not
// decoded but tried at every place, which finds more references than there are, never fewer.
// x86-64 alone; other files stay without. One pass over the file's loaded bytes (about 50 ms for
// CPython); any thread.
#pragma once

#include <vector>

#include "symbolizer/python/method_names.h"

namespace lumbre {

// By address, none of which is among `methods`.
std::vector<MethodName> find_method_bodies(const ElfFile& file,
                                           const std::vector<MethodName>& methods);

}  // namespace lumbre
