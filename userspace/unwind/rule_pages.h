// RulePages: a file's unwind rules as pages of rows for the walk in the kernel, built one page at a
// time from the rules that the walk in user space would use.
//
// Nothing is built twice, whichever processes map the file. When the rows are full, all pages are
// dropped and the room is used again after a grace, in which no kernel program can still be reading
// them. One thread. Cost: some tens of microseconds for a page of 16 KiB of code.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/code/synthesised_rules.h"
#include "symbolizer/dwarf/cfi.h"
#include "userspace/unwind/unwind_table_store.h"

namespace lumbre {

// Rows of one page, in order, for the kernel: the first at the page's first byte, no two equal
// neighbours; a row without rule (LUMBRE_CFA_NONE) where there is none.
struct PageRow {
  std::uint16_t address = 0;  // in the page
  lumbre_unwind_rule rule{};
};
std::vector<PageRow> make_page_rows(const std::vector<CompactRow>& rows, ImageAddress page_start);

// Both, where they overlap the first.
std::vector<CompactRow> merge_rows(std::vector<CompactRow> rows,
                                   const std::vector<CompactRow>& others);

class RulePages {
 public:
  enum class Outcome { kKnown, kPublished, kFull };

  explicit RulePages(UnwindTableStore& store) : store_(store) {}

  // Loads the page of `file` that holds the address. With the proven rules of its functions without
  // unwind data, `synthesised` (may be null), once they are confirmed: then anew.
  Outcome publish(std::uint32_t file, const CfiTable& cfi, const SynthesisedRules* synthesised,
                  ImageAddress address, std::uint64_t now_ns);
  // Call this when publish() has said kFull: forgets all pages.
  void reset(std::uint64_t now_ns);

  std::size_t page_count() const { return pages_.size(); }
  std::size_t row_count() const { return next_row_; }
  std::size_t rule_count() const { return next_rule_ - 1; }
  std::uint64_t reset_count() const { return resets_; }

 private:
  struct Page {
    std::size_t rows = 0;
    std::size_t confirmed = 0;  // functions without unwind data whose rules it has
  };
  std::uint16_t index_of(const lumbre_unwind_rule& rule);

  UnwindTableStore& store_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Page> pages_;  // by file and page
  std::unordered_map<std::string, std::uint16_t> rule_indices_;
  std::size_t next_row_ = 0;
  std::uint16_t next_rule_ = LUMBRE_NO_RULE + 1;
  std::uint64_t not_before_ns_ = 0;
  std::uint64_t resets_ = 0;
};

}  // namespace lumbre
