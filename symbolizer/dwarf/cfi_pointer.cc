#include "symbolizer/dwarf/cfi_pointer.h"

#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

using namespace dwarf;

constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kApplicationMask = 0x70;

std::optional<std::uint64_t> read_stored_value(ByteReader& reader, std::uint8_t format) {
  switch (format) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return reader.u64();
    case DW_EH_PE_uleb128:
      return reader.uleb128();
    case DW_EH_PE_sleb128:
      return static_cast<std::uint64_t>(reader.sleb128());
    case DW_EH_PE_udata2:
      return reader.u16();
    case DW_EH_PE_udata4:
      return reader.u32();
    case DW_EH_PE_sdata2:
      return static_cast<std::uint64_t>(std::int64_t{reader.read<std::int16_t>()});
    case DW_EH_PE_sdata4:
      return static_cast<std::uint64_t>(std::int64_t{reader.read<std::int32_t>()});
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> base_of(std::uint8_t application, std::uint64_t field_address,
                                     const PointerBases& bases) {
  switch (application) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_aligned:
      return 0;
    case DW_EH_PE_pcrel:
      return field_address;
    case DW_EH_PE_textrel:
      return bases.text_address;
    case DW_EH_PE_datarel:
      return bases.data_address;
    case DW_EH_PE_funcrel:
      return bases.function_address;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> load_indirect(std::uint64_t address, const ElfFile* file) {
  if (file == nullptr) {
    return std::nullopt;
  }
  ByteReader place(file->bytes_at(ImageAddress{address}, sizeof(std::uint64_t)));
  const std::uint64_t value = place.u64();
  if (place.is_failed()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::uint64_t> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                                  const PointerBases& bases) {
  if (encoding == DW_EH_PE_omit) {
    return std::nullopt;
  }
  const std::uint8_t application = encoding & kApplicationMask;
  if (application == DW_EH_PE_aligned) {
    reader.skip((0 - (bases.section_address + reader.offset())) & 7);
  }
  const std::uint64_t field_address = bases.section_address + reader.offset();
  const auto base = base_of(application, field_address, bases);
  const auto stored = read_stored_value(reader, encoding & kFormatMask);
  if (!base.has_value() || !stored.has_value() || reader.is_failed()) {
    return std::nullopt;
  }
  // A stored zero is a null pointer whatever it counts from (libgcc does the same).
  const std::uint64_t value = *stored == 0 ? 0 : *stored + *base;
  if ((encoding & DW_EH_PE_indirect) != 0 && *stored != 0) {
    return load_indirect(value, bases.file);
  }
  return value;
}

unsigned encoded_pointer_size(std::uint8_t encoding) {
  if (encoding == DW_EH_PE_omit) {
    return 0;
  }
  switch (encoding & kFormatMask) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    default:
      return 0;
  }
}

}  // namespace lumbre
