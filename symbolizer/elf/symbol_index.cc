#include "symbolizer/elf/symbol_index.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "symbolizer/elf/covered_ranges.h"
#include "symbolizer/elf/decompress.h"
#include "symbolizer/elf/plt.h"
#include "symbolizer/elf/symbol_table.h"

namespace lumbre {
namespace {

// A symbol is kept as its table (2 bits) and its index there (30 bits).
enum Source : std::uint32_t { kStatic, kDynamic, kDebugData, kPlt };
constexpr std::uint32_t kIndexBits = 30;
constexpr std::uint32_t kIndexMask = (std::uint32_t{1} << kIndexBits) - 1;

std::uint32_t make_reference(Source source, std::size_t index) {
  return (std::uint32_t{source} << kIndexBits) | (static_cast<std::uint32_t>(index) & kIndexMask);
}

struct AddressRange {
  std::uint64_t start = 0, end = 0;
};

std::uint64_t end_of(ImageAddress start, std::uint64_t size_bytes) {
  const std::uint64_t end = start.value + size_bytes;
  return end < start.value ? ~std::uint64_t{0} : end;
}

// Where code may be, by section; by segment when the section headers were stripped.
class CodeRanges {
 public:
  explicit CodeRanges(const ElfFile& file) {
    for (const auto& section : file.sections()) {
      const bool is_code = (section.flags & SHF_EXECINSTR) != 0;
      sections_.push_back(
          is_code ? AddressRange{section.address.value, end_of(section.address, section.size_bytes)}
                  : AddressRange{});
    }
    for (const auto& segment : file.segments()) {
      if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
        segments_.push_back(
            {segment.address.value, end_of(segment.address, segment.memory_size_bytes)});
      }
    }
  }

  // The range that holds the symbol; an empty one when it is not in code.
  AddressRange find(const Elf64_Sym& symbol) const {
    if (!sections_.empty()) {
      return symbol.st_shndx < sections_.size()
                 ? if_holds(sections_[symbol.st_shndx], symbol.st_value)
                 : AddressRange{};
    }
    for (const auto& segment : segments_) {
      if (if_holds(segment, symbol.st_value).end != 0) {
        return segment;
      }
    }
    return {};
  }

 private:
  static AddressRange if_holds(const AddressRange& range, std::uint64_t address) {
    return address >= range.start && address < range.end ? range : AddressRange{};
  }

  std::vector<AddressRange> sections_;
  std::vector<AddressRange> segments_;
};

// Local labels, arm64 mapping symbols ("$x") and annobin's markers name no function.
bool is_label(const SymbolTable& table, const Elf64_Sym& symbol) {
  const auto name = table.name(symbol);
  return name.empty() || name.front() == '.' || name.front() == '$';
}

bool is_function(const SymbolTable& table, const Elf64_Sym& symbol) {
  switch (ELF64_ST_TYPE(symbol.st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
      return true;
    case STT_NOTYPE:
      return !is_label(table, symbol);
    default:
      return false;
  }
}

void add_functions(const SymbolTable& table, Source source, const CodeRanges& code,
                   std::vector<SymbolExtent>& extents) {
  const std::size_t count = std::min<std::size_t>(table.size(), kIndexMask);
  for (std::size_t i = 0; i < count; ++i) {
    const auto symbol = table.entry(i);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) {
      continue;
    }
    const auto range = code.find(symbol);
    if (range.end == 0 || !is_function(table, symbol)) {
      continue;
    }
    const bool is_sized = symbol.st_size != 0;
    const std::uint64_t end = end_of(ImageAddress{symbol.st_value}, symbol.st_size);
    extents.push_back({symbol.st_value, is_sized ? std::min(range.end, end) : range.end,
                       make_reference(source, i), is_sized});
  }
}

std::shared_ptr<ElfFile> read_debug_data(const ElfFile& file) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{512} << 20;
  const auto* section = file.find_section(".gnu_debugdata");
  if (section == nullptr) {
    return nullptr;
  }
  const auto content = decompress_xz(section->bytes, kMaxBytes);
  if (!content.has_value()) {
    return nullptr;
  }
  auto parsed = ElfFile::parse(MappedFile::from_bytes(
      std::string(reinterpret_cast<const char*>(content->data()), content->size())));
  return parsed.has_value() ? std::move(parsed).value() : nullptr;
}

}  // namespace

struct SymbolIndex::State {
  std::shared_ptr<const ElfFile> file;
  std::shared_ptr<const ElfFile> debug_data;
  std::array<SymbolTable, kPlt> tables;
  std::vector<PltStub> stubs;
  std::vector<CoveredRange> ranges;
  bool has_symtab = false;

  // Exported names first (__GI_ and the like are local), then as perf: few leading underscores,
  // long; stubs last.
  bool is_better(const SymbolExtent& a, const SymbolExtent& b) const {
    const auto binding_a = binding_rank(a.symbol);
    const auto binding_b = binding_rank(b.symbol);
    if (binding_a != binding_b) {
      return binding_a < binding_b;
    }
    const auto name_rank = [this](std::uint32_t reference) {
      const auto name = symbol_of(reference).name;
      const std::size_t underscores = std::min(name.find_first_not_of('_'), name.size());
      return std::tuple(underscores, ~name.size(), reference);
    };
    return name_rank(a.symbol) < name_rank(b.symbol);
  }

  int binding_rank(std::uint32_t reference) const {
    const std::uint32_t source = reference >> kIndexBits;
    if (source == kPlt) {
      return 3;
    }
    const auto symbol = tables[source].entry(reference & kIndexMask);
    const auto binding = ELF64_ST_BIND(symbol.st_info);
    return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
  }

  ElfSymbol symbol_of(std::uint32_t reference) const {
    const std::uint32_t source = reference >> kIndexBits;
    const std::uint32_t index = reference & kIndexMask;
    if (source == kPlt) {
      const auto& stub = stubs[index];
      return {stub.name, stub.address, stub.size_bytes};
    }
    const auto symbol = tables[source].entry(index);
    return {tables[source].name(symbol), ImageAddress{symbol.st_value}, symbol.st_size};
  }

  std::vector<SymbolExtent> collect();
};

std::vector<SymbolExtent> SymbolIndex::State::collect() {
  std::vector<SymbolExtent> extents;
  const CodeRanges code(*file);
  tables[kStatic] = find_static_symbols(*file);
  extents.reserve(tables[kStatic].size());
  add_functions(tables[kStatic], kStatic, code, extents);
  has_symtab = !extents.empty();
  if (!has_symtab) {
    tables[kDynamic] = find_dynamic_tables(*file).symbols;
    add_functions(tables[kDynamic], kDynamic, code, extents);
    debug_data = read_debug_data(*file);
    if (debug_data != nullptr) {
      tables[kDebugData] = find_static_symbols(*debug_data);
      const std::size_t count = extents.size();
      add_functions(tables[kDebugData], kDebugData, CodeRanges(*debug_data), extents);
      has_symtab = extents.size() > count;
    }
  }
  stubs = find_plt_stubs(*file);
  for (std::size_t i = 0; i < stubs.size() && i < kIndexMask; ++i) {
    const auto end = end_of(stubs[i].address, stubs[i].size_bytes);
    extents.push_back({stubs[i].address.value, end, make_reference(kPlt, i), true});
  }
  return extents;
}

std::shared_ptr<const SymbolIndex> SymbolIndex::build(std::shared_ptr<const ElfFile> file) {
  auto state = std::make_shared<State>();
  state->file = std::move(file);
  state->ranges = cover_ranges(
      state->collect(), FunctionStarts(*state->file),
      [&](const SymbolExtent& a, const SymbolExtent& b) { return state->is_better(a, b); });
  return std::shared_ptr<const SymbolIndex>(new SymbolIndex(std::move(state)));
}

std::optional<ElfSymbol> SymbolIndex::find(ImageAddress address) const {
  const auto& ranges = state_->ranges;
  auto after = std::upper_bound(
      ranges.begin(), ranges.end(), address.value,
      [](std::uint64_t value, const CoveredRange& range) { return value < range.start; });
  if (after == ranges.begin()) {
    return std::nullopt;
  }
  const auto& range = *--after;
  if (address.value - range.start >= range.size_bytes) {
    return std::nullopt;
  }
  const auto symbol = state_->symbol_of(range.symbol);
  return symbol.name.empty() ? std::nullopt : std::optional(symbol);
}

std::size_t SymbolIndex::size() const { return state_->ranges.size(); }
bool SymbolIndex::has_symtab() const { return state_->has_symtab; }

}  // namespace lumbre
