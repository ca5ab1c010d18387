#include "symbolizer/code/synthesised_rules.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace lumbre {
namespace {

ReadBytes reader_of(const std::shared_ptr<const ElfFile>& file) {
  return [file](std::uint64_t address, std::span<std::byte> bytes) {
    const auto found = file->bytes_at({address}, bytes.size());
    if (found.size() != bytes.size()) {
      return false;
    }
    std::memcpy(bytes.data(), found.data(), bytes.size());
    return true;
  };
}

}  // namespace

SynthesisedRules::Functions::const_iterator SynthesisedRules::find_known(
    ImageAddress address) const {
  auto after = functions_.upper_bound(address.value);
  if (after == functions_.begin() || address.value >= std::prev(after)->second.end) {
    return functions_.end();
  }
  return std::prev(after);
}

std::optional<SynthesisedRule> SynthesisedRules::find(ImageAddress address,
                                                      const SymbolIndex* symbols) {
  if (const auto known = find_known(address); known != functions_.end()) {
    return known->second.rules.find(address.value);
  }
  if (file_->machine() != EM_X86_64 || analysed_bytes_ > kMaxAnalysedBytes ||
      row_count_ > kMaxRows) {
    return std::nullopt;
  }
  const auto bounds = bounds_.find(symbols, address);
  // Nothing is found twice in vain: where there is no function, one byte is remembered.
  Function function{address.value + 1, false, {}};
  std::uint64_t start = address.value;
  if (bounds.has_value() && bounds->start <= address && bounds->end > address) {
    FunctionCode code;
    code.bytes = file_->bytes_at(bounds->start, bounds->end.value - bounds->start.value);
    code.address = bounds->start.value;
    code.is_entry_proven = bounds->is_start_proven;
    code.read_bytes = reader_of(file_);
    function = {bounds->end.value, false, analyse_function(code)};
    start = code.address;
    analysed_bytes_ += code.bytes.size();
    row_count_ += function.rules.rows().size();
  }
  ++analysed_bytes_;
  // Symbols that overlap: each function ends where the next known one starts.
  if (const auto next = functions_.upper_bound(address.value); next != functions_.end()) {
    function.end = std::min(function.end, next->first);
  }
  const auto added = functions_.insert_or_assign(start, std::move(function)).first;
  return added->second.rules.find(address.value);
}

void SynthesisedRules::confirm(ImageAddress address) {
  if (const auto known = find_known(address); known != functions_.end()) {
    functions_.at(known->first).is_confirmed = true;
  }
}

std::size_t SynthesisedRules::count_confirmed(ImageAddress start, ImageAddress end) const {
  std::size_t count = 0;
  auto at = find_known(start);
  for (at = at == functions_.end() ? functions_.lower_bound(start.value) : at;
       at != functions_.end() && at->first < end.value; ++at) {
    count += at->second.is_confirmed ? 1 : 0;
  }
  return count;
}

std::vector<CompactRow> SynthesisedRules::confirmed_rows(ImageAddress start,
                                                         ImageAddress end) const {
  std::vector<CompactRow> rows;
  auto at = find_known(start);
  for (at = at == functions_.end() ? functions_.lower_bound(start.value) : at;
       at != functions_.end() && at->first < end.value; ++at) {
    if (!at->second.is_confirmed) {
      continue;
    }
    const std::uint64_t last = std::min(end.value, at->second.end);
    for (const SynthesisedRow& row : at->second.rules.rows()) {
      const std::uint64_t from = std::max(row.start, start.value);
      const std::uint64_t to = std::min(row.end, last);
      if (from < to && row.rule.certainty == RuleCertainty::kProven) {
        rows.push_back({{from}, {to}, row.rule.rule});
      }
    }
  }
  return rows;
}

}  // namespace lumbre
