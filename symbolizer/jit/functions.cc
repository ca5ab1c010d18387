#include "symbolizer/jit/functions.h"

#include <algorithm>

namespace lumbre {
namespace {

constexpr unsigned kPageShift = 12;
constexpr std::uint64_t kForEver = ~std::uint64_t{0};

std::uint64_t first_page(const JitFunction& function) { return function.start.value >> kPageShift; }
std::uint64_t last_page(const JitFunction& function) {
  return (function.start.value + function.size_bytes - 1) >> kPageShift;
}
ProcessAddress last_byte(const JitFunction& function) {
  return {function.start.value + function.size_bytes - 1};
}

bool is_well_formed(const JitFunction& function) {
  return function.size_bytes != 0 && function.size_bytes <= JitFunctions::kMaxFunctionBytes &&
         function.start.value <= kForEver - function.size_bytes;
}

std::size_t text_bytes_of(const JitFunction& function) {
  std::size_t bytes = function.name.size();
  if (function.debug != nullptr && function.debug.use_count() == 1) {
    bytes += function.debug->eh_frame.size() + function.debug->lines.size() * sizeof(JitLine);
    for (const std::string& file : function.debug->files) {
      bytes += file.size();
    }
  }
  return bytes;
}

}  // namespace

const JitLine* JitFunction::line_at(ProcessAddress address) const {
  if (debug == nullptr || debug->lines.empty()) {
    return nullptr;
  }
  const std::uint64_t then = address.value - start.value + debug->code_start;
  const auto after = std::upper_bound(
      debug->lines.begin(), debug->lines.end(), then,
      [](std::uint64_t value, const JitLine& line) { return value < line.address; });
  return after == debug->lines.begin() ? nullptr : &*std::prev(after);
}

bool JitFunctions::has_room(const JitFunction& function) const {
  const std::size_t pages =
      static_cast<std::size_t>(last_page(function) - first_page(function)) + 1;
  return functions_.size() < kMaxFunctions && places_ + pages <= kMaxPlaces &&
         text_bytes_ + text_bytes_of(function) <= kMaxTextBytes;
}

// What loses its first or last byte is gone. What merely holds a smaller one inside stays: some
// runtimes list a whole blob and the parts of it.
void JitFunctions::bury_under(const JitFunction& added) {
  for (std::uint64_t page = first_page(added); page <= last_page(added); ++page) {
    const auto found = by_page_.find(page);
    if (found == by_page_.end()) {
      continue;
    }
    for (const std::uint32_t index : found->second) {
      JitFunction& old = functions_[index];
      if (old.until_ns == kForEver && (added.covers(old.start) || added.covers(last_byte(old)))) {
        old.until_ns = added.from_ns;
      }
    }
  }
}

void JitFunctions::add(JitFunction function) {
  if (!is_well_formed(function)) {
    return;
  }
  const JitFunction* there = find(function.start, kForEver - 1);
  if (there != nullptr && there->start == function.start &&
      there->size_bytes == function.size_bytes && there->name == function.name &&
      function.debug == nullptr) {
    return;
  }
  if (!has_room(function)) {
    ++left_out_;
    return;
  }
  bury_under(function);
  text_bytes_ += text_bytes_of(function);
  const auto index = static_cast<std::uint32_t>(functions_.size());
  for (std::uint64_t page = first_page(function); page <= last_page(function); ++page) {
    std::vector<std::uint32_t>& of_page = by_page_[page];
    if (of_page.size() >= kMaxPerPage) {
      of_page.erase(of_page.begin(), of_page.begin() + kMaxPerPage / 2);
      places_ -= kMaxPerPage / 2;
    }
    of_page.push_back(index);
    ++places_;
  }
  functions_.push_back(std::move(function));
}

void JitFunctions::move(ProcessAddress from, ProcessAddress to, std::uint64_t time_ns) {
  const std::uint32_t* index = find_index(from, kForEver - 1);
  if (index == nullptr || functions_[*index].start != from || from == to) {
    return;
  }
  JitFunction& old = functions_[*index];
  JitFunction moved = old;
  old.until_ns = time_ns;
  moved.start = to;
  moved.from_ns = time_ns;
  add(std::move(moved));
}

const std::uint32_t* JitFunctions::find_index(ProcessAddress address, std::uint64_t time_ns) const {
  const auto found = by_page_.find(address.value >> kPageShift);
  if (found == by_page_.end()) {
    return nullptr;
  }
  for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) {
    const JitFunction& function = functions_[*at];
    if (function.covers(address) && function.from_ns <= time_ns && time_ns < function.until_ns) {
      return &*at;
    }
  }
  return nullptr;
}

const JitFunction* JitFunctions::find(ProcessAddress address, std::uint64_t time_ns) const {
  const std::uint32_t* index = find_index(address, time_ns);
  return index == nullptr ? nullptr : &functions_[*index];
}

bool JitFunctions::is_taken(ProcessAddress start, std::uint64_t size_bytes) const {
  JitFunction range;
  range.start = start;
  range.size_bytes = size_bytes;
  if (!is_well_formed(range)) {
    return false;
  }
  for (std::uint64_t page = first_page(range); page <= last_page(range); ++page) {
    const auto found = by_page_.find(page);
    if (found == by_page_.end()) {
      continue;
    }
    for (const std::uint32_t index : found->second) {
      const JitFunction& old = functions_[index];
      if (old.until_ns == kForEver && (range.covers(old.start) || old.covers(start))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace lumbre
