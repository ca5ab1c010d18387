#include "userspace/unwind/rule_pages.h"

#include <algorithm>
#include <cstring>

namespace lumbre {
namespace {

constexpr std::uint64_t kPageBytes = std::uint64_t{1} << LUMBRE_PAGE_SHIFT;
// A kernel program runs for microseconds; one that was preempted in a uprobe may take longer.
constexpr std::uint64_t kGraceNs = 1'000'000'000;

bool is_equal(const lumbre_unwind_rule& left, const lumbre_unwind_rule& right) {
  return std::memcmp(&left, &right, sizeof(left)) == 0;
}

void append(std::vector<PageRow>& rows, std::uint64_t offset, const lumbre_unwind_rule& rule) {
  if (rows.empty() || !is_equal(rows.back().rule, rule)) {
    rows.push_back({static_cast<std::uint16_t>(offset), rule});
  }
}

}  // namespace

std::vector<PageRow> make_page_rows(const std::vector<CompactRow>& rows, ImageAddress page_start) {
  constexpr lumbre_unwind_rule kNone{};
  std::vector<PageRow> page;
  std::uint64_t covered = 0;
  for (const CompactRow& row : rows) {
    const std::uint64_t start = row.start.value - page_start.value;
    if (start > covered) {
      append(page, covered, kNone);
    }
    append(page, start, row.rule);
    covered = row.end.value - page_start.value;
  }
  if (covered < kPageBytes) {
    append(page, covered, kNone);
  }
  return page;
}

// LUMBRE_NO_RULE where the kernel cannot step by it, or has no room for it.
std::uint16_t RulePages::index_of(const lumbre_unwind_rule& rule) {
  if (rule.cfa_kind == LUMBRE_CFA_NONE || rule.cfa_kind == LUMBRE_CFA_FULL) {
    return LUMBRE_NO_RULE;
  }
  const std::string key(reinterpret_cast<const char*>(&rule), sizeof(rule));
  if (const auto known = rule_indices_.find(key); known != rule_indices_.end()) {
    return known->second;
  }
  if (next_rule_ >= LUMBRE_MAX_RULES) {
    return LUMBRE_NO_RULE;
  }
  store_.rules()[next_rule_] = rule;
  rule_indices_.emplace(key, next_rule_);
  return next_rule_++;
}

std::vector<CompactRow> merge_rows(std::vector<CompactRow> rows,
                                   const std::vector<CompactRow>& others) {
  const std::size_t count = rows.size();
  std::size_t at = 0;
  for (CompactRow other : others) {
    while (at < count && rows[at].end <= other.start) {
      ++at;
    }
    for (std::size_t i = at; i < count && rows[i].start < other.end; ++i) {
      if (other.start < rows[i].start) {
        rows.push_back({other.start, rows[i].start, other.rule});
      }
      other.start = rows[i].end;
    }
    if (other.start < other.end) {
      rows.push_back(other);
    }
  }
  std::sort(rows.begin(), rows.end(), [](const CompactRow& left, const CompactRow& right) {
    return left.start < right.start;
  });
  return rows;
}

RulePages::Outcome RulePages::publish(std::uint32_t file, const CfiTable& cfi,
                                      const SynthesisedRules* synthesised, ImageAddress address,
                                      std::uint64_t now_ns) {
  const std::uint64_t number = address.value >> LUMBRE_PAGE_SHIFT;
  const auto key = std::pair(file, static_cast<std::uint32_t>(number));
  if (number > ~std::uint32_t{0} || now_ns < not_before_ns_) {
    return Outcome::kKnown;
  }
  const ImageAddress start{number << LUMBRE_PAGE_SHIFT}, end{start.value + kPageBytes};
  const std::size_t confirmed =
      synthesised == nullptr ? 0 : synthesised->count_confirmed(start, end);
  if (const auto known = pages_.find(key);
      known != pages_.end() && known->second.confirmed == confirmed) {
    return Outcome::kKnown;
  }
  std::vector<CompactRow> found = cfi.rows_between(start, end);
  if (confirmed != 0) {
    found = merge_rows(std::move(found), synthesised->confirmed_rows(start, end));
  }
  const std::vector<PageRow> rows = make_page_rows(found, start);
  if (pages_.size() >= LUMBRE_MAX_PAGES || next_row_ + rows.size() > LUMBRE_MAX_ROWS) {
    return Outcome::kFull;
  }
  const lumbre_page page{static_cast<std::uint32_t>(next_row_),
                         static_cast<std::uint32_t>(rows.size())};
  for (const PageRow& row : rows) {
    store_.rows()[next_row_++] = {row.address, index_of(row.rule)};
  }
  // The rows of a page that is loaded anew stay unused until the next reset.
  pages_.insert_or_assign(key, Page{rows.size(), confirmed});
  return store_.set_page({key.first, key.second}, page) ? Outcome::kPublished : Outcome::kFull;
}

void RulePages::reset(std::uint64_t now_ns) {
  for (const auto& [key, page] : pages_) {
    store_.clear_page({key.first, key.second});
  }
  pages_.clear();
  next_row_ = 0;
  not_before_ns_ = now_ns + kGraceNs;
  ++resets_;
}

}  // namespace lumbre
