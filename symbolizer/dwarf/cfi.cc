#include "symbolizer/dwarf/cfi.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "symbolizer/dwarf/cfi_program.h"
#include "symbolizer/dwarf/cfi_search_table.h"
#include "symbolizer/dwarf/cfi_section.h"

namespace lumbre {
namespace {

std::uint64_t address_of(const ElfFile& file, std::string_view section) {
  const auto* found = file.find_section(section);
  return found == nullptr ? 0 : found->address.value;
}

PointerBases bases_in(const ElfFile& file, std::uint64_t section_address) {
  PointerBases bases;
  bases.section_address = section_address;
  bases.text_address = address_of(file, ".text");
  bases.data_address = address_of(file, ".got.plt");
  if (bases.data_address == 0) {
    bases.data_address = address_of(file, ".got");
  }
  bases.file = &file;
  return bases;
}

// From an address to the end of its segment: without section headers nothing tells more.
std::span<const std::byte> bytes_from(const ElfFile& file, std::uint64_t address) {
  for (const auto& segment : file.segments()) {
    const std::uint64_t distance = address - segment.address.value;
    if (segment.type == PT_LOAD && address >= segment.address.value &&
        distance < segment.file_size_bytes) {
      return file.bytes_at(ImageAddress{address}, segment.file_size_bytes - distance);
    }
  }
  return {};
}

std::optional<CfiSearchTable> load_search_table(const ElfFile& file) {
  for (const auto& segment : file.segments()) {
    if (segment.type == PT_GNU_EH_FRAME) {
      return CfiSearchTable::parse(file.bytes_at(segment.address, segment.file_size_bytes),
                                   bases_in(file, segment.address.value));
    }
  }
  const auto* section = file.find_section(".eh_frame_hdr");
  if (section == nullptr) {
    return std::nullopt;
  }
  return CfiSearchTable::parse(section->bytes, bases_in(file, section->address.value));
}

CfiSection load_eh_frame(const ElfFile& file, const std::optional<CfiSearchTable>& table) {
  constexpr auto kKind = CfiSection::Kind::kEhFrame;
  // A separate debug file has the section without bytes (SHT_NOBITS), and its segments lead to
  // unrelated bytes: then there is nothing here.
  if (const auto* section = file.find_section(".eh_frame"); section != nullptr) {
    return {kKind, file.section_data(".eh_frame"), bases_in(file, section->address.value)};
  }
  if (!table.has_value()) {
    return {};
  }
  const std::uint64_t address = table->eh_frame_address();
  return {kKind, bytes_from(file, address), bases_in(file, address)};
}

}  // namespace

struct CfiTable::State {
  // One section with what finds an FDE in it.
  struct Source {
    CfiSection section;
    std::optional<CfiSearchTable> table;  // trusted until an entry of it proves wrong
    bool is_table_checked = false;
    std::optional<std::vector<CfiSection::Location>> index;

    std::optional<FrameEntry> find(std::uint64_t address);
    // The start of the first FDE that begins behind the address; the largest number if none does.
    std::uint64_t next_start(std::uint64_t address);

   private:
    std::optional<FrameEntry> find_by_table(std::uint64_t address);
    std::optional<FrameEntry> find_by_index(std::uint64_t address);
  };

  std::shared_ptr<const ElfFile> file;
  Source eh_frame;
  Source debug_frame;

  struct Found {
    const CfiSection* section;
    FrameEntry entry;
  };
  std::optional<Found> find(ImageAddress address);
  std::uint64_t next_start(std::uint64_t address);
};

std::optional<FrameEntry> CfiTable::State::Source::find(std::uint64_t address) {
  if (section.is_empty()) {
    return std::nullopt;
  }
  if (table.has_value()) {
    const auto entry = find_by_table(address);
    if (table.has_value()) {
      return entry;
    }
  }
  return find_by_index(address);
}

// Drops the table when it is wrong. A wrong entry shows at once; a table out of order shows as an
// address that is not found, so the order is checked once when that first happens.
std::optional<FrameEntry> CfiTable::State::Source::find_by_table(std::uint64_t address) {
  const auto found = table->find(address);
  std::optional<FrameEntry> entry;
  if (found.has_value()) {
    entry = section.parse_fde(found->fde_address - section.address());
    if (!entry.has_value() || entry->start.value != found->start) {
      table.reset();
      return std::nullopt;
    }
    if (address < entry->end.value) {
      return entry;
    }
  }
  if (!is_table_checked) {
    is_table_checked = true;
    if (!table->is_sorted()) {
      table.reset();
    }
  }
  return std::nullopt;
}

std::optional<FrameEntry> CfiTable::State::Source::find_by_index(std::uint64_t address) {
  if (!index.has_value()) {
    index = section.index_all();
  }
  const auto after = std::ranges::upper_bound(*index, address, {}, &CfiSection::Location::start);
  if (after == index->begin() || std::prev(after)->end <= address) {
    return std::nullopt;
  }
  return section.parse_fde(std::prev(after)->offset);
}

std::uint64_t CfiTable::State::Source::next_start(std::uint64_t address) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  if (section.is_empty()) {
    return kNone;
  }
  if (table.has_value()) {
    const auto entry = table->find_next(address);
    return entry.has_value() ? entry->start : kNone;
  }
  if (!index.has_value()) {
    index = section.index_all();
  }
  const auto next = std::ranges::upper_bound(*index, address, {}, &CfiSection::Location::start);
  return next == index->end() ? kNone : next->start;
}

std::uint64_t CfiTable::State::next_start(std::uint64_t address) {
  return std::min(eh_frame.next_start(address), debug_frame.next_start(address));
}

std::optional<CfiTable::State::Found> CfiTable::State::find(ImageAddress address) {
  for (Source* source : {&eh_frame, &debug_frame}) {
    if (auto entry = source->find(address.value); entry.has_value()) {
      return Found{&source->section, *std::move(entry)};
    }
  }
  return std::nullopt;
}

CfiTable::CfiTable(std::shared_ptr<const ElfFile> file) : state_(std::make_unique<State>()) {
  state_->file = std::move(file);
  const ElfFile& elf = *state_->file;
  if (elf.type() == ET_REL) {
    return;  // its addresses are not relocated yet
  }
  auto table = load_search_table(elf);
  state_->eh_frame.section = load_eh_frame(elf, table);
  if (table.has_value() && table->has_table()) {
    state_->eh_frame.table = table;
  }
  state_->debug_frame.section =
      CfiSection(CfiSection::Kind::kDebugFrame, elf.section_data(".debug_frame"), bases_in(elf, 0));
}

CfiTable::~CfiTable() = default;
CfiTable::CfiTable(CfiTable&&) noexcept = default;

bool CfiTable::is_empty() const {
  return state_->eh_frame.section.is_empty() && state_->debug_frame.section.is_empty();
}

std::optional<CfiRow> CfiTable::find_row(ImageAddress address) const {
  const auto found = state_->find(address);
  if (!found.has_value()) {
    return std::nullopt;
  }
  std::optional<CfiRow> result;
  for_each_row(*found->section, found->entry, [&](const CfiRow& row) {
    if (address >= row.end) {
      return true;
    }
    result = row;
    return false;
  });
  return result;
}

std::optional<CompactRow> CfiTable::find_rule(ImageAddress address) const {
  const auto found = state_->find(address);
  if (!found.has_value()) {
    return std::nullopt;
  }
  std::optional<CompactRow> result;
  for_each_row(*found->section, found->entry, [&](const CfiRow& row) {
    if (address >= row.end) {
      return true;
    }
    result = CompactRow{row.start, row.end, compact_rule(row)};
    return false;
  });
  return result;
}

std::vector<CompactRow> CfiTable::rows_of_function(ImageAddress address) const {
  std::vector<CompactRow> rows;
  const auto found = state_->find(address);
  if (!found.has_value()) {
    return rows;
  }
  for_each_row(*found->section, found->entry, [&](const CfiRow& row) {
    const auto rule = compact_rule(row);
    if (!rows.empty() && rows.back().end == row.start &&
        std::memcmp(&rows.back().rule, &rule, sizeof(rule)) == 0) {
      rows.back().end = row.end;
    } else {
      rows.push_back({row.start, row.end, rule});
    }
    return true;
  });
  return rows;
}

std::vector<CompactRow> CfiTable::rows_between(ImageAddress start, ImageAddress end) const {
  std::vector<CompactRow> rows;
  std::uint64_t at = start.value;
  while (at < end.value) {
    const std::uint64_t next = std::min(state_->next_start(at), end.value);
    // Functions may overlap: the one that starts last before an address says what holds there.
    for (CompactRow row : rows_of_function(ImageAddress{at})) {
      row.start.value = std::max(row.start.value, at);
      row.end.value = std::min(row.end.value, next);
      if (row.start < row.end) {
        at = row.end.value;
        rows.push_back(row);
      }
    }
    at = next;
  }
  return rows;
}

}  // namespace lumbre
