// FunctionBounds: the function that holds an address which no unwind data covers.
//
// By a symbol with a size; else from the gap between the neighbours that have unwind data (within
// the section), followed from its beginning and split where a return or jump ends the last path
// that leads on. Such a start is a guess, except that of a section. Not thread-safe (see CfiTable).
// Cost: up to 5 ms where there is no symbol.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbol_index.h"

namespace lumbre {

struct FunctionBounds {
  ImageAddress start, end;
  bool is_start_proven = false;
};

// `symbols` may be null.
std::optional<FunctionBounds> find_function_bounds(const ElfFile& file, const CfiTable& cfi,
                                                   const SymbolIndex* symbols,
                                                   ImageAddress address);

}  // namespace lumbre
