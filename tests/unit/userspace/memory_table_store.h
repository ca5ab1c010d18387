// The kernel's unwind tables as plain memory.
#pragma once

#include <map>
#include <vector>

#include "userspace/unwind/unwind_table_store.h"

namespace lumbre {

struct PageKeyOrder {
  bool operator()(const lumbre_page_key& a, const lumbre_page_key& b) const {
    return std::pair(a.file, a.page) < std::pair(b.file, b.page);
  }
};

class MemoryTableStore : public UnwindTableStore {
 public:
  std::span<lumbre_unwind_rule> rules() override { return rules_; }
  std::span<lumbre_unwind_row> rows() override { return rows_; }
  std::span<lumbre_code_range> ranges() override { return ranges_; }
  bool set_page(const lumbre_page_key& key, const lumbre_page& page) override {
    return !is_full && pages.insert_or_assign(key, page).first != pages.end();
  }
  void clear_page(const lumbre_page_key& key) override { pages.erase(key); }
  bool set_process(std::uint32_t pid, const lumbre_native_process& process) override {
    return !is_full && processes.insert_or_assign(pid, process).first != processes.end();
  }
  void clear_process(std::uint32_t pid) override { processes.erase(pid); }

  std::map<lumbre_page_key, lumbre_page, PageKeyOrder> pages;
  std::map<std::uint32_t, lumbre_native_process> processes;
  bool is_full = false;

 private:
  std::vector<lumbre_unwind_rule> rules_ = std::vector<lumbre_unwind_rule>(LUMBRE_MAX_RULES);
  std::vector<lumbre_unwind_row> rows_ = std::vector<lumbre_unwind_row>(LUMBRE_MAX_ROWS);
  std::vector<lumbre_code_range> ranges_ = std::vector<lumbre_code_range>(LUMBRE_MAX_CODE_RANGES);
};

}  // namespace lumbre
