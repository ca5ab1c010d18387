#include "output/proto_reader.h"

#include <cstring>

namespace lumbre::output {
namespace {

constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5;
constexpr std::uint64_t kMaximumFieldNumber = (1u << 29) - 1;

}  // namespace

bool ProtoReader::next() {
  if (is_failed_ || rest_.empty()) return false;
  std::uint64_t tag = 0;
  number_ = 0;
  bytes_ = {};
  if (!take_varint(rest_, tag) || (tag >> 3) == 0 || (tag >> 3) > kMaximumFieldNumber ||
      !take_payload(static_cast<std::uint32_t>(tag & 7))) {
    is_failed_ = true;
    return false;
  }
  field_ = static_cast<std::uint32_t>(tag >> 3);
  return true;
}

bool ProtoReader::take_payload(std::uint32_t wire_type) {
  is_bytes_ = wire_type == kLengthDelimited;
  switch (wire_type) {
    case kVarint:
      return take_varint(rest_, number_);
    case kFixed64:
      return take_fixed(8);
    case kFixed32:
      return take_fixed(4);
    case kLengthDelimited: {
      std::uint64_t length = 0;
      if (!take_varint(rest_, length) || length > rest_.size()) return false;
      bytes_ = rest_.substr(0, static_cast<std::size_t>(length));
      rest_.remove_prefix(bytes_.size());
      return true;
    }
    default:
      return false;
  }
}

bool ProtoReader::take_fixed(std::size_t size) {
  if (size > rest_.size()) return false;
  std::memcpy(&number_, rest_.data(), size);  // little-endian, as the machines Lumbre runs on
  rest_.remove_prefix(size);
  return true;
}

bool ProtoReader::take_varint(std::string_view& from, std::uint64_t& value) {
  value = 0;
  const std::size_t limit = from.size() < 10 ? from.size() : 10;
  for (std::size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<std::uint8_t>(from[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace lumbre::output
