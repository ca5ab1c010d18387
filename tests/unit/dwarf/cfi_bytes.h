// Builds .eh_frame and .debug_frame sections byte by byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace lumbre {

class CfiBytes {
 public:
  using Bytes = std::initializer_list<int>;

  template <typename T>
  CfiBytes& put(T value) {
    static_assert(std::is_integral_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  CfiBytes& raw(Bytes values) {
    for (const int value : values) {
      bytes_.push_back(static_cast<char>(value));
    }
    return *this;
  }
  CfiBytes& text(std::string_view value) {
    bytes_.append(value);
    bytes_.push_back('\0');
    return *this;
  }
  CfiBytes& append(const CfiBytes& other) {
    bytes_ += other.bytes_;
    return *this;
  }

  // Puts the 32-bit length in front of what `body` holds.
  CfiBytes& entry(const CfiBytes& body) {
    put(static_cast<std::uint32_t>(body.size()));
    return append(body);
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

// A version 1 CIE with absolute addresses: CFA = rsp + 8, the return address at CFA - 8.
inline CfiBytes usual_cie(CfiBytes::Bytes more_instructions = {}) {
  return CfiBytes()
      .put<std::uint32_t>(0)
      .raw({1})
      .text("")
      .raw({1, 0x78, 16, 0x0c, 7, 8, 0x90, 1})
      .raw(more_instructions);
}

// An FDE of that CIE; `offset` is where the FDE itself begins in the section.
inline CfiBytes usual_fde(std::size_t offset, std::uint64_t start, std::uint64_t size,
                          CfiBytes::Bytes instructions) {
  return CfiBytes()
      .put(static_cast<std::uint32_t>(offset + 4))
      .put(start)
      .put(size)
      .raw(instructions);
}

}  // namespace lumbre
