// ByteReader: a bounds-checked cursor over bytes in little-endian order.
//
// A read past the end gives zero (or an empty string), leaves the cursor at the end and sets
// is_failed(); a parser may therefore read a whole header and test once. It never throws and
// never allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lumbre {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, std::size_t offset = 0) : bytes_(bytes) {
    seek(offset);
  }

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }
  bool is_at_end() const { return offset_ == bytes_.size(); }
  bool is_failed() const { return failed_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  void seek(std::size_t offset) {
    if (offset > bytes_.size()) {
      fail();
      return;
    }
    offset_ = offset;
  }
  void skip(std::size_t count) {
    if (count > remaining()) {
      fail();
      return;
    }
    offset_ += count;
  }

  // A fixed-size integer (or packed struct) in host order; Lumbre runs on little-endian machines.
  template <typename T>
  T read() {
    T value{};
    if (sizeof(T) > remaining()) {
      fail();
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }
  std::uint8_t u8() { return read<std::uint8_t>(); }
  std::uint16_t u16() { return read<std::uint16_t>(); }
  std::uint32_t u32() { return read<std::uint32_t>(); }
  std::uint64_t u64() { return read<std::uint64_t>(); }

  // DWARF 5, section 7.6. Bits beyond 64 are dropped, the cursor still passes them.
  std::uint64_t uleb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t byte = u8();
      if (shift < 64) {
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      }
      if ((byte & 0x80) == 0 || failed_) {
        return value;
      }
    }
  }
  std::int64_t sleb128() {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = u8();
      if (shift < 64) {
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      }
      shift += 7;
    } while ((byte & 0x80) != 0 && !failed_);
    if (shift < 64 && (byte & 0x40) != 0) {
      value |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(value);
  }

  // Up to and without the terminating zero; a missing terminator fails.
  std::string_view c_string() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data() + offset_);
    const void* end = remaining() == 0 ? nullptr : std::memchr(begin, 0, remaining());
    if (end == nullptr) {
      fail();
      return {};
    }
    const auto length = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
    offset_ += length + 1;
    return {begin, length};
  }
  std::span<const std::byte> take(std::size_t count) {
    if (count > remaining()) {
      fail();
      return {};
    }
    const auto part = bytes_.subspan(offset_, count);
    offset_ += count;
    return part;
  }

 private:
  void fail() {
    failed_ = true;
    offset_ = bytes_.size();
  }

  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  bool failed_ = false;
};

}  // namespace lumbre
