// SynthesisedRules: the unwind rules of one file's functions that have no unwind data, found from
// their instructions when they are first asked for, and kept.
//
// A function counts as confirmed when a walk through it has reached the root; only what is proven
// in confirmed functions is for the walk in the kernel, which does not check return addresses.
// x86-64 only. One thread. Bounds: kMaxAnalysedBytes of code and kMaxRows for each file, then
// nothing new.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "symbolizer/code/function_bounds.h"
#include "symbolizer/code/function_rules.h"
#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/elf/symbol_index.h"

namespace lumbre {

class SynthesisedRules {
 public:
  static constexpr std::uint64_t kMaxAnalysedBytes = std::uint64_t{64} << 20;
  static constexpr std::size_t kMaxRows = 1'000'000;

  // `cfi` outlives this.
  SynthesisedRules(std::shared_ptr<const ElfFile> file, const CfiTable& cfi)
      : file_(std::move(file)), bounds_(*file_, cfi) {}

  // For an address that `cfi` has no row for. `symbols` may be null.
  std::optional<SynthesisedRule> find(ImageAddress address, const SymbolIndex* symbols);

  void confirm(ImageAddress address);
  // How many functions that reach into the range are confirmed; never falls.
  std::size_t count_confirmed(ImageAddress start, ImageAddress end) const;
  // Their proven rows, in order, disjoint, cut to the range.
  std::vector<CompactRow> confirmed_rows(ImageAddress start, ImageAddress end) const;
  std::size_t function_count() const { return functions_.size(); }

 private:
  struct Function {
    std::uint64_t end = 0;
    bool is_confirmed = false;
    FunctionRules rules;
  };
  using Functions = std::map<std::uint64_t, Function>;  // by start
  Functions::const_iterator find_known(ImageAddress address) const;

  std::shared_ptr<const ElfFile> file_;
  FunctionBoundsFinder bounds_;
  Functions functions_;  // disjoint
  std::uint64_t analysed_bytes_ = 0;
  std::size_t row_count_ = 0;
};

}  // namespace lumbre
