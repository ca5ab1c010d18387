// The tokens of Rust's v0 mangling (RFC 2603): a cursor on which any mismatch makes all later steps
// fail and read as empty. Internal to the demangler. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lumbre {

class RustCursor {
 public:
  explicit RustCursor(std::string_view text) : text_(text) {}

  struct Identifier {
    std::uint64_t disambiguator = 0;
    std::string_view name;
    bool is_punycode = false;
  };

  char peek() const { return failed_ || at_ >= text_.size() ? '\0' : text_[at_]; }
  char next() {
    if (failed_ || at_ >= text_.size()) {
      failed_ = true;
      return '\0';
    }
    return text_[at_++];
  }
  bool take(char c) {
    if (peek() != c || failed_) {
      return false;
    }
    ++at_;
    return true;
  }

  std::uint64_t base62() {
    if (take('_')) {
      return 0;
    }
    std::uint64_t value = 0;
    while (!failed_) {
      const char c = next();
      if (c == '_') {
        return value + 1;
      }
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 10
                        : c >= 'A' && c <= 'Z' ? c - 'A' + 36
                                               : -1;
      failed_ = failed_ || digit < 0 || value > UINT64_MAX / 62 - 1;
      value = value * 62 + static_cast<std::uint64_t>(digit < 0 ? 0 : digit);
    }
    return 0;
  }
  std::uint64_t optional_base62(char tag) { return take(tag) ? base62() + 1 : 0; }

  Identifier undisambiguated_identifier() {
    Identifier id;
    id.is_punycode = take('u');
    std::size_t length = 0;
    if (peek() < '0' || peek() > '9') {
      failed_ = true;
    }
    if (!take('0')) {
      while (peek() >= '0' && peek() <= '9' && length < text_.size()) {
        length = length * 10 + static_cast<std::size_t>(next() - '0');
      }
    }
    take('_');
    if (failed_ || length > text_.size() - at_) {
      failed_ = true;
      return {};
    }
    id.name = text_.substr(at_, length);
    at_ += length;
    return id;
  }
  Identifier identifier() {
    const auto disambiguator = optional_base62('s');
    Identifier id = undisambiguated_identifier();
    id.disambiguator = disambiguator;
    return id;
  }

  std::string_view hex_digits() {
    const std::size_t start = at_;
    while (!failed_ && !take('_')) {
      const char c = next();
      failed_ = failed_ || !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    }
    return failed_ ? std::string_view() : text_.substr(start, at_ - start - 1);
  }

  static std::optional<std::uint64_t> hex_value(std::string_view digits) {
    while (!digits.empty() && digits[0] == '0') {
      digits.remove_prefix(1);
    }
    if (digits.size() > 16) {
      return std::nullopt;
    }
    std::uint64_t value = 0;
    for (const char c : digits) {
      value = value * 16 + static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
  }

 protected:
  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace lumbre
