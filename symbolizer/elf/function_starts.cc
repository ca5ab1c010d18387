#include "symbolizer/elf/function_starts.h"

#include <elf.h>

#include <algorithm>

#include "symbolizer/base/byte_reader.h"

namespace lumbre {
namespace {

constexpr std::size_t kPairBytes = 8;

}  // namespace

FunctionStarts::FunctionStarts(const ElfFile& file) {
  const auto* section = file.find_section(".eh_frame_hdr");
  if (section != nullptr && section->type == SHT_NOBITS) {
    return;  // a separate debug file: its segments describe bytes of the other file
  }
  for (const auto& segment : file.segments()) {
    if (segment.type != PT_GNU_EH_FRAME) {
      continue;
    }
    ByteReader reader(file.bytes_at(segment.address, segment.file_size_bytes));
    // Version 1; .eh_frame as 4 bytes relative to here; the count as 4 bytes (DW_EH_PE_udata4);
    // the table as 4 bytes relative to the header (DW_EH_PE_datarel | DW_EH_PE_sdata4).
    const bool is_known_form = reader.u8() == 1 && (reader.u8() & 0x0f) == 0x0b &&
                               reader.u8() == 0x03 && reader.u8() == 0x3b;
    if (!is_known_form) {
      continue;
    }
    reader.skip(4);
    const std::size_t count = reader.u32();
    base_ = segment.address.value;
    table_ = reader.take(std::min(count, reader.remaining() / kPairBytes) * kPairBytes);
    return;
  }
}

std::uint64_t FunctionStarts::start_of(std::size_t index) const {
  const auto relative = ByteReader(table_, index * kPairBytes).read<std::int32_t>();
  return base_ + static_cast<std::uint64_t>(std::int64_t{relative});
}

std::optional<ImageAddress> FunctionStarts::next_after(ImageAddress address) const {
  std::size_t low = 0;
  std::size_t high = table_.size() / kPairBytes;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (start_of(middle) <= address.value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == table_.size() / kPairBytes) {
    return std::nullopt;
  }
  return ImageAddress{start_of(low)};
}

}  // namespace lumbre
