#include "symbolizer/code/function_bounds.h"

#include <elf.h>

#include <algorithm>

namespace lumbre {
namespace {

// Read before and after a window, so that functions at its ends are whole.
constexpr std::uint64_t kMarginBytes = 64 << 10;
// Most gaps are small: neighbours with unwind data are looked for nearby first.
constexpr std::uint64_t kNearBytes = 8 << 10;

std::optional<CodeRange> find_section(const ElfFile& file, std::uint64_t address) {
  for (const ElfFile::Section& section : file.sections()) {
    const CodeRange range{section.address.value, section.address.value + section.size_bytes};
    if ((section.flags & SHF_EXECINSTR) != 0 && range.contains(address)) {
      return range;
    }
  }
  for (const ElfFile::Segment& segment : file.segments()) {
    const CodeRange range{segment.address.value, segment.address.value + segment.file_size_bytes};
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && range.contains(address)) {
      return range;
    }
  }
  return std::nullopt;
}

// What is entered by a jump has another function's frame.
bool is_part_of_function(std::string_view name) {
  return name.find(".cold") != std::string_view::npos ||
         name.find(".part.") != std::string_view::npos;
}

bool is_section_start(const ElfFile& file, std::uint64_t address) {
  for (const char* name : {".init", ".fini"}) {  // called by the loader at their beginning
    const ElfFile::Section* section = file.find_section(name);
    if (section != nullptr && section->address.value == address) {
      return true;
    }
  }
  return false;
}

FunctionBounds bounds_of_symbol(const ElfSymbol& symbol, const CodeRange& section) {
  const std::uint64_t size_bytes = std::min(symbol.size_bytes, section.end - section.start);
  const std::uint64_t end = std::min(section.end, symbol.address.value + size_bytes);
  return {symbol.address, {end}, !is_part_of_function(symbol.name)};
}

}  // namespace

// Between the rows around the address.
CodeRange FunctionBoundsFinder::find_gap(const CodeRange& limits, std::uint64_t address) const {
  CodeRange gap = limits;
  for (const std::uint64_t reach : {kNearBytes, kWindowBytes + kMarginBytes}) {
    const std::uint64_t low = std::max(limits.start, address - std::min(address, reach));
    const std::uint64_t high = std::min(limits.end, address + reach);
    const auto below = cfi_.rows_between({low}, {address});
    const auto above = cfi_.rows_between({address}, {high});
    gap.start = below.empty() ? limits.start : below.back().end.value;
    gap.end = above.empty() ? limits.end : above.front().start.value;
    if (!below.empty() && !above.empty()) {
      break;
    }
  }
  return gap;
}

const FunctionBoundsFinder::Window& FunctionBoundsFinder::split_window(const CodeRange& section,
                                                                       std::uint64_t address) {
  const CodeRange window{address - address % kWindowBytes,
                         address - address % kWindowBytes + kWindowBytes};
  const std::uint64_t margin = std::min(kMarginBytes, window.start);
  const CodeRange limits{std::max(section.start, window.start - margin),
                         std::min(section.end, window.end + kMarginBytes)};
  const CodeRange gap = find_gap(limits, address);
  auto parts = split_functions(file_.bytes_at({gap.start}, gap.end - gap.start), gap.start);
  const bool is_cut = gap.start == limits.start && limits.start != section.start;
  if (is_cut && !parts.empty() && !parts.front().is_called) {
    parts.erase(parts.begin());  // it began before
  }
  if (kept_parts_ + parts.size() > kMaxKeptParts) {
    windows_.clear();
    kept_parts_ = 0;
  }
  kept_parts_ += parts.size();
  const std::uint64_t start = std::max(window.start, gap.start);
  const Window added{std::min(window.end, gap.end), std::move(parts)};
  return windows_.insert_or_assign(start, added).first->second;
}

const FunctionPart* FunctionBoundsFinder::find_part(const CodeRange& section,
                                                    std::uint64_t address) {
  const auto after_window = windows_.upper_bound(address);
  const bool is_known =
      after_window != windows_.begin() && address < std::prev(after_window)->second.end;
  const Window& window =
      is_known ? std::prev(after_window)->second : split_window(section, address);
  const auto after = std::upper_bound(
      window.parts.begin(), window.parts.end(), address,
      [](std::uint64_t value, const FunctionPart& part) { return value < part.start; });
  return after == window.parts.begin() ? nullptr : &*std::prev(after);
}

std::optional<FunctionBounds> FunctionBoundsFinder::find(const SymbolIndex* symbols,
                                                         ImageAddress address) {
  const auto section = find_section(file_, address.value);
  if (!section.has_value()) {
    return std::nullopt;
  }
  ElfSymbol symbol;
  if (symbols != nullptr) {
    symbol = symbols->find(address).value_or(symbol);
  }
  if (symbol.size_bytes != 0) {
    return bounds_of_symbol(symbol, *section);
  }
  const FunctionPart* part = find_part(*section, address.value);
  if (part == nullptr) {
    return std::nullopt;
  }
  const bool is_named = !symbol.name.empty() && symbol.address.value == part->start;
  const bool is_proven = part->is_called || is_named || part->start == file_.entry().value ||
                         is_section_start(file_, part->start);
  return FunctionBounds{{part->start}, {part->end}, is_proven};
}

}  // namespace lumbre
