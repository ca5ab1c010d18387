// ProtoWriter: encodes protocol buffer messages (wire format, proto2 and proto3) into a string.
//
// Not a schema: the caller gives field numbers. Nested messages are written to a writer of their
// own and added with bytes(). One thread; reuse a writer with clear(), it keeps its memory.
// Source of the format: protobuf.dev, "Encoding".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lumbre::output {

inline std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

class ProtoWriter {
 public:
  const std::string& data() const { return data_; }
  std::size_t size() const { return data_.size(); }
  void clear() { data_.clear(); }

  // Varint fields. uint() and boolean() leave out zeros, as proto3 does.
  void uint(std::uint32_t field, std::uint64_t value) {
    if (value != 0) always_uint(field, value);
  }
  void integer(std::uint32_t field, std::int64_t value) {
    uint(field, static_cast<std::uint64_t>(value));
  }
  void boolean(std::uint32_t field, bool value) { uint(field, value ? 1 : 0); }
  void always_uint(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }

  // Length-delimited fields: texts, raw bytes, nested messages. Written even when empty.
  void bytes(std::uint32_t field, std::string_view value) {
    header(field, value.size());
    data_.append(value);
  }
  void message(std::uint32_t field, const ProtoWriter& value) { bytes(field, value.data()); }

  // A packed repeated field; nothing when there is no value. `convert` maps an element to 64 bits.
  template <typename Range, typename Convert>
  void packed(std::uint32_t field, const Range& values, Convert convert) {
    std::size_t size = 0;
    for (const auto& value : values) size += varint_size(convert(value));
    if (size == 0) return;
    header(field, size);
    for (const auto& value : values) varint(convert(value));
  }

 private:
  static constexpr std::uint64_t kLengthDelimited = 2;

  void header(std::uint32_t field, std::size_t length) {
    varint(std::uint64_t{field} << 3 | kLengthDelimited);
    varint(length);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) data_.push_back(static_cast<char>(value | 0x80));
    data_.push_back(static_cast<char>(value));
  }

  std::string data_;
};

}  // namespace lumbre::output
