// FunctionBounds: the function that holds an address which no unwind data covers.
//
// By a symbol with a size; else the gap between the neighbours that have unwind data (within the
// section) is split (function_splitter.h), once for each kWindowBytes of code, and kept. A start is
// proven by a symbol, by a direct call, or as the program's entry; otherwise a guess.
// `file` and `cfi` outlive this. One thread. Cost: the first address of a window about 15 ms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "symbolizer/code/function_splitter.h"
#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbol_index.h"

namespace lumbre {

struct FunctionBounds {
  ImageAddress start, end;
  bool is_start_proven = false;
};

struct CodeRange {
  std::uint64_t start = 0, end = 0;
  bool contains(std::uint64_t address) const { return address >= start && address < end; }
};

class FunctionBoundsFinder {
 public:
  static constexpr std::uint64_t kWindowBytes = 256 << 10;
  static constexpr std::size_t kMaxKeptParts = 500'000;

  FunctionBoundsFinder(const ElfFile& file, const CfiTable& cfi) : file_(file), cfi_(cfi) {}

  // `symbols` may be null.
  std::optional<FunctionBounds> find(const SymbolIndex* symbols, ImageAddress address);

 private:
  struct Window {
    std::uint64_t end = 0;
    std::vector<FunctionPart> parts;
  };
  const FunctionPart* find_part(const CodeRange& section, std::uint64_t address);
  const Window& split_window(const CodeRange& section, std::uint64_t address);
  CodeRange find_gap(const CodeRange& limits, std::uint64_t address) const;

  const ElfFile& file_;
  const CfiTable& cfi_;
  std::map<std::uint64_t, Window> windows_;  // by start, disjoint
  std::size_t kept_parts_ = 0;
};

}  // namespace lumbre
