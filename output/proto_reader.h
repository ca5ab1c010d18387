// ProtoReader: steps through the fields of one protocol buffer message in untrusted bytes.
//
// Not a schema: the caller switches on field(). A field that runs past the end, a varint longer
// than ten bytes, field number 0 and groups (gone since proto3) end the walk with is_failed().
// It never allocates; views point into the bytes given. One thread. Source: protobuf.dev,
// "Encoding".
#pragma once

#include <cstdint>
#include <string_view>

namespace lumbre::output {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  // Moves to the next field; false at the end and at the first fault.
  bool next();
  bool is_failed() const { return is_failed_; }

  std::uint32_t field() const { return field_; }
  bool is_bytes() const { return is_bytes_; }
  // Of a varint or fixed-size field; 0 for bytes.
  std::uint64_t uint() const { return number_; }
  std::int64_t integer() const { return static_cast<std::int64_t>(number_); }
  // Of a length-delimited field; empty for numbers.
  std::string_view bytes() const { return bytes_; }

  // Calls visit(std::uint64_t) for each value of a repeated varint field, packed or not; visit
  // returns false to stop. False when stopped or malformed.
  template <typename Visit>
  bool each_varint(Visit visit) const {
    if (!is_bytes_) return visit(number_);
    std::string_view values = bytes_;
    while (!values.empty()) {
      std::uint64_t value = 0;
      if (!take_varint(values, value) || !visit(value)) return false;
    }
    return true;
  }

 private:
  static bool take_varint(std::string_view& from, std::uint64_t& value);
  bool take_payload(std::uint32_t wire_type);
  bool take_fixed(std::size_t size);

  std::string_view rest_;
  std::string_view bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  bool is_bytes_ = false;
  bool is_failed_ = false;
};

}  // namespace lumbre::output
