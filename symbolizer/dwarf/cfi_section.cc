#include "symbolizer/dwarf/cfi_section.h"

#include <algorithm>

#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

using namespace dwarf;

constexpr std::uint32_t kExtendedLength = 0xffffffff;
constexpr std::uint64_t kDebugFrameCieId32 = 0xffffffff;
constexpr std::uint64_t kDebugFrameCieId64 = ~std::uint64_t{0};
constexpr std::uint64_t kReturnAddressColumn = LUMBRE_RIP;

bool is_known_version(std::uint8_t version) { return version == 1 || version == 3 || version == 4; }

// The rest of a body as bytes.
std::span<const std::byte> rest_of(ByteReader& reader) { return reader.take(reader.remaining()); }

}  // namespace

PointerBases CfiSection::bases_for(std::span<const std::byte> part) const {
  PointerBases bases = bases_;
  if (!part.empty()) {
    bases.section_address += static_cast<std::uint64_t>(part.data() - bytes_.data());
  }
  return bases;
}

// Length, then the CIE id or the way to the CIE: in .eh_frame a distance back from that very
// field with 0 for a CIE, in .debug_frame an offset from the section's start with all ones.
std::optional<CfiSection::Header> CfiSection::parse_header(std::size_t offset) const {
  ByteReader reader(bytes_, offset);
  Header header;
  std::uint64_t length = reader.u32();
  const bool is_64_bit = length == kExtendedLength;
  if (is_64_bit) {
    length = reader.u64();
  }
  if (reader.is_failed() || length == 0 || length > reader.remaining()) {
    return std::nullopt;
  }
  const std::size_t id_offset = reader.offset();
  header.next_offset = id_offset + length;
  header.body_offset = id_offset;
  header.body = ByteReader(bytes_.subspan(id_offset, length));
  const std::uint64_t id = is_64_bit ? header.body.u64() : header.body.u32();
  if (header.body.is_failed()) {
    // Too short for an id: an entry that can be passed over, but is neither a CIE nor an FDE.
    header.cie_offset = bytes_.size();
    return header;
  }
  if (kind_ == Kind::kEhFrame) {
    header.is_cie = id == 0;
    header.cie_offset = id <= id_offset ? id_offset - id : bytes_.size();
  } else {
    header.is_cie = id == (is_64_bit ? kDebugFrameCieId64 : kDebugFrameCieId32);
    header.cie_offset = std::min<std::uint64_t>(id, bytes_.size());
  }
  return header;
}

std::shared_ptr<const CommonEntry> CfiSection::cie_at(std::size_t offset) {
  if (const auto found = cies_.find(offset); found != cies_.end()) {
    return found->second;
  }
  const auto parsed = parse_cie(offset);
  // Failures are kept too: every FDE of a broken CIE would otherwise parse it again.
  auto entry = parsed.has_value() ? std::make_shared<const CommonEntry>(*parsed) : nullptr;
  if (cies_.size() >= kMaxKeptCies) {
    cies_.clear();
  }
  cies_.emplace(offset, entry);
  return entry;
}

std::optional<CommonEntry> CfiSection::parse_cie(std::size_t offset) const {
  auto header = parse_header(offset);
  if (!header.has_value() || !header->is_cie) {
    return std::nullopt;
  }
  ByteReader& body = header->body;
  CommonEntry entry;
  entry.version = body.u8();
  if (!is_known_version(entry.version)) {
    return std::nullopt;
  }
  const std::string_view augmentation = body.c_string();
  if (augmentation == "eh") {
    body.skip(sizeof(std::uint64_t));  // "EH data" of GCC 2, unused since
  }
  if (entry.version == 4) {
    const std::uint8_t address_size = body.u8();
    entry.segment_size_bytes = body.u8();
    if (address_size != sizeof(std::uint64_t)) {
      return std::nullopt;
    }
  }
  entry.code_alignment = body.uleb128();
  entry.data_alignment = body.sleb128();
  const std::uint64_t return_column = entry.version == 1 ? body.u8() : body.uleb128();
  if (body.is_failed() || return_column != kReturnAddressColumn ||
      !parse_augmentation(augmentation, body, entry)) {
    return std::nullopt;
  }
  entry.instructions = rest_of(body);
  return entry;
}

bool CfiSection::parse_augmentation(std::string_view augmentation, ByteReader& body,
                                    CommonEntry& entry) const {
  if (augmentation.empty() || augmentation == "eh") {
    return true;
  }
  if (augmentation.front() != 'z') {
    return false;  // of unknown length, so nothing behind it can be found
  }
  entry.has_augmentation_data = true;
  const std::uint64_t size = body.uleb128();
  const std::size_t data_offset = body.offset();
  ByteReader data(body.take(size));
  const auto bases = bases_for(body.bytes().subspan(data_offset));
  for (const char letter : augmentation.substr(1)) {
    switch (letter) {
      case 'R':
        entry.pointer_encoding = data.u8();
        break;
      case 'P': {
        const std::uint8_t encoding = data.u8() & static_cast<std::uint8_t>(~DW_EH_PE_indirect);
        if (!read_encoded_pointer(data, encoding, bases).has_value()) {
          return false;
        }
        break;
      }
      case 'L':
        data.skip(1);
        break;
      case 'S':
        entry.is_signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return !body.is_failed() && !data.is_failed();
}

std::optional<FrameEntry> CfiSection::parse_fde(std::size_t offset) {
  const auto header = parse_header(offset);
  return header.has_value() ? parse_fde(*header) : std::nullopt;
}

std::optional<FrameEntry> CfiSection::parse_fde(const Header& header) {
  if (header.is_cie || header.cie_offset >= bytes_.size()) {
    return std::nullopt;
  }
  FrameEntry entry;
  entry.common = cie_at(header.cie_offset);
  if (entry.common == nullptr) {
    return std::nullopt;
  }
  ByteReader body = header.body;
  body.skip(entry.common->segment_size_bytes);
  PointerBases bases = bases_;
  bases.section_address += header.body_offset;
  const std::uint8_t encoding = entry.common->pointer_encoding;
  const auto start = read_encoded_pointer(body, encoding, bases);
  // The size is stored as the address is, but counts from nothing.
  const auto size = read_encoded_pointer(body, encoding & 0x0f, bases);
  if (entry.common->has_augmentation_data) {
    body.skip(body.uleb128());
  }
  if (!start.has_value() || !size.has_value() || body.is_failed() || *size == 0 ||
      *start > ~std::uint64_t{0} - *size) {
    return std::nullopt;
  }
  entry.start = ImageAddress{*start};
  entry.end = ImageAddress{*start + *size};
  entry.instructions = rest_of(body);
  return entry;
}

std::vector<CfiSection::Location> CfiSection::index_all() {
  std::vector<Location> index;
  for (std::size_t offset = 0; offset < bytes_.size();) {
    const auto header = parse_header(offset);
    if (!header.has_value()) {
      // A zero length ends .eh_frame for the run-time unwinder, yet files exist with more entries
      // behind it (crtend.o linked in the middle); anything else is the end of what can be read.
      if (ByteReader(bytes_, offset).u32() != 0) {
        break;
      }
      offset += sizeof(std::uint32_t);
      continue;
    }
    const auto entry = parse_fde(*header);
    // Linkers leave the FDEs of removed functions in .debug_frame with address zero.
    if (entry.has_value() && entry->start.value != 0) {
      index.push_back({entry->start.value, entry->end.value, offset});
    }
    offset = header->next_offset;
  }
  std::ranges::stable_sort(index, {}, &Location::start);
  return index;
}

}  // namespace lumbre
