#include "symbolizer/kallsyms.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>

#include "symbolizer/procfs/read_file.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

// What an address range that nothing else bounds may be given: whole pages are mapped, and the
// kernel leaves a guard page behind the text of a module.
std::uint64_t last_possible_end(std::uint64_t address) {
  constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();
  return address > kHighest - 2 * kPageBytes ? kHighest : (address / kPageBytes + 2) * kPageBytes;
}

int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool is_text_type(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

}  // namespace

// "ffffffffc0a01000 t ext4_readdir\t[ext4]". True when it lists an address that is not zero.
bool KernelSymbols::parse_line(std::size_t begin, std::size_t end) {
  Entry entry;
  std::size_t at = begin;
  for (; at < end && hex_digit(text_[at]) >= 0; ++at) {
    entry.address = entry.address * 16 + static_cast<std::uint64_t>(hex_digit(text_[at]));
  }
  if (at == begin || at - begin > 16 || end - at < 4 || text_[at] != ' ' || text_[at + 2] != ' ') {
    return false;
  }
  entry.type = text_[at + 1];
  if (!is_text_type(entry.type) || entry.address == 0) {
    return entry.address != 0;
  }
  const auto rest = std::string_view(text_).substr(at + 3, end - at - 3);
  const auto name = rest.substr(0, rest.find('\t'));
  constexpr std::size_t kMaxLength = std::numeric_limits<std::uint16_t>::max();
  if (name.empty() || rest.size() > kMaxLength) {
    return true;
  }
  entry.name_offset = static_cast<std::uint32_t>(at + 3);
  entry.name_length = static_cast<std::uint16_t>(name.size());
  const auto open = rest.find('[', name.size());
  if (open != std::string_view::npos && rest.back() == ']') {
    entry.module_offset = static_cast<std::uint32_t>(entry.name_offset + open + 1);
    entry.module_length = static_cast<std::uint16_t>(rest.size() - open - 2);
  } else if (name == "_etext") {
    text_end_ = entry.address;
  } else if (name == "__sched_text_start") {
    scheduler_start_ = entry.address;
  } else if (name == "__sched_text_end") {
    scheduler_end_ = entry.address;
  }
  entries_.push_back(entry);
  return true;
}

Result<KernelSymbols> KernelSymbols::parse(std::string text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
    return Error::unsupported("cannot read kernel symbols: more than 4 GiB of text");
  }
  KernelSymbols symbols;
  symbols.text_ = std::move(text);
  bool has_address = false;
  for (std::size_t begin = 0; begin < symbols.text_.size();) {
    const void* newline =
        std::memchr(symbols.text_.data() + begin, '\n', symbols.text_.size() - begin);
    const std::size_t end =
        newline == nullptr
            ? symbols.text_.size()
            : static_cast<std::size_t>(static_cast<const char*>(newline) - symbols.text_.data());
    has_address = symbols.parse_line(begin, end) || has_address;
    begin = end + 1;
  }
  if (!has_address && !symbols.text_.empty()) {
    return Error{ErrorKind::kPermission, 0,
                 "cannot read kernel symbols: all addresses are hidden (kernel.kptr_restrict)"};
  }
  if (symbols.entries_.empty()) {
    return Error::not_found("cannot read kernel symbols: no text symbols are listed");
  }
  symbols.sort_and_bound();
  return symbols;
}

Result<KernelSymbols> KernelSymbols::load(const std::string& path) {
  LUMBRE_TRY_ASSIGN(std::string text, read_proc_file(path));
  return parse(std::move(text));
}

std::string_view KernelSymbols::name_of(const Entry& entry) const {
  return std::string_view(text_).substr(entry.name_offset, entry.name_length);
}

std::string_view KernelSymbols::module_of(const Entry& entry) const {
  return std::string_view(text_).substr(entry.module_offset, entry.module_length);
}

// The order of SymbolIndex: not weak, global, few leading underscores, long.
bool KernelSymbols::is_better(const Entry& a, const Entry& b) const {
  const auto rank = [this](const Entry& entry) {
    const auto name = name_of(entry);
    const bool is_weak = entry.type == 'w' || entry.type == 'W';
    return std::tuple(is_weak, entry.type != 'T',
                      std::min(name.find_first_not_of('_'), name.size()), ~name.size(),
                      entry.name_offset);
  };
  return rank(a) < rank(b);
}

void KernelSymbols::keep_best_aliases() {
  std::size_t count = 0;
  for (const auto& entry : entries_) {
    if (count == 0 || entries_[count - 1].address != entry.address) {
      entries_[count++] = entry;
    } else if (is_better(entry, entries_[count - 1])) {
      entries_[count - 1] = entry;
    }
  }
  entries_.resize(count);
}

void KernelSymbols::sort_and_bound() {
  // The kernel's own symbols come sorted, those of modules and BPF programs after them do not.
  const auto is_lower = [](const Entry& a, const Entry& b) { return a.address < b.address; };
  const auto tail = std::is_sorted_until(entries_.begin(), entries_.end(), is_lower);
  std::sort(tail, entries_.end(), is_lower);
  std::inplace_merge(entries_.begin(), tail, entries_.end(), is_lower);
  keep_best_aliases();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& entry = entries_[i];
    const bool is_last = i + 1 == entries_.size();
    const bool is_last_of_module = is_last || module_of(entries_[i + 1]) != module_of(entry);
    entry.end = is_last ? last_possible_end(entry.address) : entries_[i + 1].address;
    if (is_last_of_module) {
      entry.end = std::min(entry.end, last_possible_end(entry.address));
    }
    if (entry.module_length == 0 && text_end_ != 0) {
      entry.end = std::min(entry.end, std::max(text_end_, entry.address));
    }
  }
}

std::optional<KernelSymbol> KernelSymbols::find(std::uint64_t address) const {
  const auto after = std::upper_bound(
      entries_.begin(), entries_.end(), address,
      [](std::uint64_t value, const Entry& entry) { return value < entry.address; });
  if (after == entries_.begin() || address >= std::prev(after)->end) {
    return std::nullopt;
  }
  const Entry& entry = *std::prev(after);
  return KernelSymbol{name_of(entry), module_of(entry), entry.address};
}

}  // namespace lumbre
