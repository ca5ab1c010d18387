#include "symbolizer/dwarf/forms.h"

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

void fail(ByteReader& reader) { reader.skip(reader.remaining() + 1); }

// DW_FORM_indirect names the real form in the data; an indirect one inside it means nothing.
std::uint16_t read_indirect(ByteReader& reader) {
  const std::uint64_t form = reader.uleb128();
  if (form == form::kIndirect || form == form::kImplicitConst || form > 0xffff) {
    fail(reader);
    return form::kFlagPresent;
  }
  return static_cast<std::uint16_t>(form);
}

// Length of a block form's contents, the cursor being left at their first byte.
std::uint64_t read_block_length(ByteReader& reader, std::uint16_t form) {
  switch (form) {
    case form::kBlock1:
      return reader.u8();
    case form::kBlock2:
      return reader.u16();
    case form::kBlock4:
      return reader.u32();
    default:
      return reader.uleb128();
  }
}

bool is_block(std::uint16_t form) {
  return form == form::kBlock || form == form::kBlock1 || form == form::kBlock2 ||
         form == form::kBlock4 || form == form::kExprloc;
}

bool is_leb(std::uint16_t form) {
  switch (form) {
    case form::kSdata:
    case form::kUdata:
    case form::kRefUdata:
    case form::kStrx:
    case form::kAddrx:
    case form::kLoclistx:
    case form::kRnglistx:
    case form::kGnuAddrIndex:
    case form::kGnuStrIndex:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<std::uint8_t> fixed_size(std::uint16_t form, const UnitFormat& format) {
  switch (form) {
    case form::kFlagPresent:
    case form::kImplicitConst:
      return std::uint8_t{0};
    case form::kData1:
    case form::kFlag:
    case form::kRef1:
    case form::kStrx1:
    case form::kAddrx1:
      return std::uint8_t{1};
    case form::kData2:
    case form::kRef2:
    case form::kStrx2:
    case form::kAddrx2:
      return std::uint8_t{2};
    case form::kStrx3:
    case form::kAddrx3:
      return std::uint8_t{3};
    case form::kData4:
    case form::kRef4:
    case form::kStrx4:
    case form::kAddrx4:
    case form::kRefSup4:
      return std::uint8_t{4};
    case form::kData8:
    case form::kRef8:
    case form::kRefSig8:
    case form::kRefSup8:
      return std::uint8_t{8};
    case form::kData16:
      return std::uint8_t{16};
    case form::kAddr:
      return format.address_size;
    case form::kRefAddr:  // DWARF 2 gave it the size of an address
      return format.version <= 2 ? format.address_size : format.offset_size;
    case form::kStrp:
    case form::kSecOffset:
    case form::kLineStrp:
    case form::kStrpSup:
    case form::kGnuRefAlt:
    case form::kGnuStrpAlt:
      return format.offset_size;
    default:
      return std::nullopt;
  }
}

std::uint64_t read_unsigned(ByteReader& reader, unsigned size_bytes) {
  std::uint64_t value = 0;
  switch (size_bytes) {
    case 1:
      return reader.u8();
    case 2:
      return reader.u16();
    case 4:
      return reader.u32();
    case 8:
      return reader.u64();
    default:
      for (unsigned i = 0; i < size_bytes; ++i) {
        const std::uint64_t byte = reader.u8();
        value |= i < 8 ? byte << (8 * i) : 0;
      }
      return value;
  }
}

FormValue read_form(ByteReader& reader, std::uint16_t form, const UnitFormat& format,
                    std::int64_t implicit_const) {
  FormValue value{form, 0, {}};
  switch (form) {  // the frequent ones first
    case form::kData1:
    case form::kFlag:
      value.number = reader.u8();
      return value;
    case form::kData2:
      value.number = reader.u16();
      return value;
    case form::kRef4:
    case form::kData4:
      value.number = reader.u32();
      return value;
    case form::kImplicitConst:
      value.number = static_cast<std::uint64_t>(implicit_const);
      return value;
    case form::kFlagPresent:
      value.number = 1;
      return value;
    case form::kString:
      value.text = reader.c_string();
      return value;
    case form::kSdata:
      value.number = static_cast<std::uint64_t>(reader.sleb128());
      return value;
    case form::kIndirect:
      return read_form(reader, read_indirect(reader), format, 0);
    default:
      break;
  }
  if (is_leb(form)) {
    value.number = reader.uleb128();
  } else if (is_block(form)) {
    reader.skip(read_block_length(reader, form));
  } else if (const auto size = fixed_size(form, format)) {
    value.number = read_unsigned(reader, *size);
  } else {
    fail(reader);
  }
  return value;
}

void skip_form(ByteReader& reader, std::uint16_t form, const UnitFormat& format) {
  if (const auto size = fixed_size(form, format)) {
    reader.skip(*size);
  } else if (is_block(form)) {
    reader.skip(read_block_length(reader, form));
  } else if (is_leb(form)) {
    reader.uleb128();
  } else {
    read_form(reader, form, format, 0);
  }
}

std::uint64_t read_unit_length(ByteReader& reader, std::uint8_t& offset_size) {
  const std::uint32_t length = reader.u32();
  offset_size = length == 0xffffffff ? 8 : 4;
  return offset_size == 8 ? reader.u64() : length;
}

bool is_address_form(std::uint16_t form) {
  switch (form) {
    case form::kAddr:
    case form::kAddrx:
    case form::kAddrx1:
    case form::kAddrx2:
    case form::kAddrx3:
    case form::kAddrx4:
    case form::kGnuAddrIndex:
      return true;
    default:
      return false;
  }
}

}  // namespace lumbre::dwarf
