#include "symbolizer/dwarf/cfi_search_table.h"

#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kUsualEncoding = dwarf::DW_EH_PE_datarel | dwarf::DW_EH_PE_sdata4;

}  // namespace

std::optional<CfiSearchTable> CfiSearchTable::parse(std::span<const std::byte> bytes,
                                                    const PointerBases& section_bases) {
  ByteReader reader(bytes);
  PointerBases bases = section_bases;
  bases.data_address = bases.section_address;  // here "data" is this very section
  const std::uint8_t version = reader.u8();
  const std::uint8_t eh_frame_encoding = reader.u8();
  const std::uint8_t count_encoding = reader.u8();
  const std::uint8_t table_encoding = reader.u8();
  const auto eh_frame = read_encoded_pointer(reader, eh_frame_encoding, bases);
  if (version != kVersion || !eh_frame.has_value()) {
    return std::nullopt;
  }
  CfiSearchTable table;
  table.eh_frame_address_ = *eh_frame;
  const auto count = read_encoded_pointer(reader, count_encoding, bases);
  const unsigned value_size = encoded_pointer_size(table_encoding);
  const std::size_t offset = reader.offset();
  // A table that claims more entries than there are bytes is as good as none.
  if (!count.has_value() || value_size == 0 || *count > reader.remaining() / (2 * value_size)) {
    return table;
  }
  table.encoding_ = table_encoding;
  table.value_size_ = value_size;
  table.count_ = *count;
  table.table_ = reader.take(*count * 2 * value_size);
  table.bases_ = bases;
  table.bases_.section_address += offset;
  return table;
}

std::uint64_t CfiSearchTable::start_at(std::size_t index) const {
  ByteReader reader(table_, index * 2 * value_size_);
  if (encoding_ == kUsualEncoding) {  // a quarter of a look-up's time goes into decoding otherwise
    return bases_.data_address + static_cast<std::uint64_t>(reader.read<std::int32_t>());
  }
  return read_encoded_pointer(reader, encoding_, bases_).value_or(0);
}

CfiSearchTable::Entry CfiSearchTable::entry_at(std::size_t index) const {
  ByteReader reader(table_, (index * 2 + 1) * value_size_);
  return {start_at(index), read_encoded_pointer(reader, encoding_, bases_).value_or(0)};
}

// Entries that do not start behind the address.
std::size_t CfiSearchTable::count_up_to(std::uint64_t address) const {
  std::size_t low = 0;
  std::size_t high = count_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (start_at(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<CfiSearchTable::Entry> CfiSearchTable::find(std::uint64_t address) const {
  const std::size_t count = count_up_to(address);
  return count == 0 ? std::nullopt : std::optional(entry_at(count - 1));
}

std::optional<CfiSearchTable::Entry> CfiSearchTable::find_next(std::uint64_t address) const {
  const std::size_t count = count_up_to(address);
  return count == count_ ? std::nullopt : std::optional(entry_at(count));
}

bool CfiSearchTable::is_sorted() const {
  for (std::size_t i = 1; i < count_; ++i) {
    if (start_at(i) < start_at(i - 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace lumbre
