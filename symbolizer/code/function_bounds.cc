#include "symbolizer/code/function_bounds.h"

#include <elf.h>

#include <algorithm>

#include "symbolizer/code/instruction.h"

namespace lumbre {
namespace {

// How far from an address its neighbours with unwind data are looked for.
constexpr std::uint64_t kGapBytes = 256 << 10;

struct CodeRange {
  std::uint64_t start = 0, end = 0;
  bool contains(std::uint64_t address) const { return address >= start && address < end; }
};

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

CodeRange find_gap(const CfiTable& cfi, const CodeRange& section, std::uint64_t address) {
  CodeRange gap{std::max(section.start, address - std::min(address, kGapBytes)),
                std::min(section.end, address + kGapBytes)};
  const auto below = cfi.rows_between({gap.start}, {address});
  const auto above = cfi.rows_between({address}, {gap.end});
  if (!below.empty()) {
    gap.start = below.back().end.value;
  }
  if (!above.empty()) {
    gap.end = above.front().start.value;
  }
  return gap;
}

// Follows the code from the gap's beginning; a function ends with an instruction that does not lead
// on and that no jump of the function leads beyond.
class GapSplitter {
 public:
  GapSplitter(const ElfFile& file, const CodeRange& gap)
      : gap_(gap), bytes_(file.bytes_at({gap.start}, gap.end - gap.start)) {}

  std::optional<CodeRange> find(std::uint64_t address) {
    std::uint64_t at = skip_padding(gap_.start);
    while (at < gap_.end) {
      const std::uint64_t end = end_of_function(at);
      if (address < end) {
        return address >= at ? std::optional(CodeRange{at, end}) : std::nullopt;
      }
      at = skip_padding(end);
    }
    return std::nullopt;
  }

 private:
  std::optional<Instruction> decode(std::uint64_t address) const {
    const std::uint64_t offset = address - gap_.start;
    return offset < bytes_.size() ? decode_instruction(bytes_.subspan(offset), address)
                                  : std::nullopt;
  }

  std::uint64_t skip_padding(std::uint64_t address) const {
    constexpr std::byte kZero{0};
    while (address - gap_.start < bytes_.size()) {
      const auto instruction = decode(address);
      const bool is_zero = bytes_[address - gap_.start] == kZero;
      const bool is_entry_mark = instruction.has_value() && is_landing_pad(address);
      if (is_zero || !instruction.has_value()) {
        ++address;
      } else if (!is_entry_mark && (instruction->kind == InstructionKind::kNothing ||
                                    instruction->kind == InstructionKind::kStop)) {
        address += instruction->length;
      } else {
        return address;
      }
    }
    return gap_.end;
  }

  // endbr64: the beginning of what is called through pointers.
  bool is_landing_pad(std::uint64_t address) const {
    static constexpr std::byte kCode[] = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                          std::byte{0xfa}};
    const auto rest = bytes_.subspan(address - gap_.start);
    return rest.size() >= std::size(kCode) &&
           std::equal(std::begin(kCode), std::end(kCode), rest.begin());
  }

  std::uint64_t end_of_function(std::uint64_t address) const {
    using enum InstructionKind;
    std::uint64_t furthest = address;
    while (const auto instruction = decode(address)) {
      address += instruction->length;
      const auto kind = instruction->kind;
      if ((kind == kConditionalJump || kind == kJump) &&
          CodeRange{address, gap_.end}.contains(instruction->destination)) {
        furthest = std::max(furthest, instruction->destination);
      }
      const bool leads_on = kind != kJump && kind != kJumpMemory && kind != kReturn &&
                            kind != kStop && kind != kJumpRegister && kind != kJumpTable;
      if (!leads_on && address > furthest) {
        return address;
      }
    }
    return gap_.end;
  }

  CodeRange gap_;
  std::span<const std::byte> bytes_;
};

FunctionBounds bounds_of_symbol(const ElfSymbol& symbol, const CodeRange& section) {
  const std::uint64_t size_bytes = std::min(symbol.size_bytes, section.end - section.start);
  const std::uint64_t end = std::min(section.end, symbol.address.value + size_bytes);
  return {symbol.address, {end}, !is_part_of_function(symbol.name)};
}

}  // namespace

std::optional<FunctionBounds> find_function_bounds(const ElfFile& file, const CfiTable& cfi,
                                                   const SymbolIndex* symbols,
                                                   ImageAddress address) {
  const auto section = find_section(file, address.value);
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
  const CodeRange gap = find_gap(cfi, *section, address.value);
  const auto found = GapSplitter(file, gap).find(address.value);
  if (!found.has_value()) {
    return std::nullopt;
  }
  const bool is_named = !symbol.name.empty() && symbol.address.value == found->start;
  return FunctionBounds{{found->start}, {found->end}, is_named || found->start == section->start};
}

}  // namespace lumbre
