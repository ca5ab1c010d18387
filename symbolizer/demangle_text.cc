#include "symbolizer/demangle_text.h"

#include <vector>

namespace lumbre {
namespace {

// The parameters of RFC 3492, section 5.
constexpr std::uint64_t kBase = 36, kMinThreshold = 1, kMaxThreshold = 26, kSkew = 38, kDamp = 700;
constexpr std::uint64_t kInitialBias = 72, kInitialCode = 128;

std::optional<std::uint64_t> digit_of(char c) {
  if (c >= 'a' && c <= 'z') {
    return static_cast<std::uint64_t>(c - 'a');
  }
  if (c >= '0' && c <= '9') {
    return static_cast<std::uint64_t>(c - '0') + 26;
  }
  return std::nullopt;
}

// One variable-length integer (section 3.3), taken off the front.
std::optional<std::uint64_t> take_delta(std::string_view& text, std::uint64_t bias) {
  std::uint64_t value = 0, weight = 1;
  for (std::uint64_t k = kBase; !text.empty(); k += kBase) {
    const auto digit = digit_of(text[0]);
    text.remove_prefix(1);
    if (!digit.has_value()) {
      return std::nullopt;
    }
    value += *digit * weight;
    const std::uint64_t threshold = k <= bias + kMinThreshold   ? kMinThreshold
                                    : k >= bias + kMaxThreshold ? kMaxThreshold
                                                                : k - bias;
    if (*digit < threshold) {
      return value;
    }
    weight *= kBase - threshold;
    if (value > UINT32_MAX || weight > UINT32_MAX) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Section 6.1.
std::uint64_t adapt_bias(std::uint64_t delta, std::uint64_t count, bool is_first) {
  delta /= is_first ? kDamp : 2;
  delta += delta / count;
  std::uint64_t bias = 0;
  for (; delta > (kBase - kMinThreshold) * kMaxThreshold / 2; bias += kBase) {
    delta /= kBase - kMinThreshold;
  }
  return bias + (kBase - kMinThreshold + 1) * delta / (delta + kSkew);
}

}  // namespace

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto tail = [&](unsigned shift) {
    out += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
    return;
  }
  if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | code_point >> 6);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | code_point >> 12);
    tail(6);
  } else {
    out += static_cast<char>(0xf0 | code_point >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
}

bool is_unicode_scalar(std::uint64_t value) {
  return value <= 0x10ffff && (value < 0xd800 || value >= 0xe000);
}

std::optional<std::string> decode_punycode(std::string_view text) {
  constexpr std::size_t kMaxCodePoints = 512;  // insertion in the middle is quadratic
  std::vector<std::uint32_t> codes;
  if (const auto split = text.rfind('_'); split != std::string_view::npos) {
    for (const char c : text.substr(0, split)) {
      codes.push_back(static_cast<unsigned char>(c));
    }
    text.remove_prefix(split + 1);
  }
  std::uint64_t code = kInitialCode, position = 0, bias = kInitialBias;
  bool is_first = true;
  while (!text.empty()) {
    const auto delta = take_delta(text, bias);
    const std::uint64_t count = codes.size() + 1;
    if (!delta.has_value() || count > kMaxCodePoints) {
      return std::nullopt;
    }
    bias = adapt_bias(*delta, count, is_first);
    is_first = false;
    position += *delta;
    code += position / count;
    position %= count;
    if (!is_unicode_scalar(code)) {
      return std::nullopt;
    }
    codes.insert(codes.begin() + static_cast<std::ptrdiff_t>(position),
                 static_cast<std::uint32_t>(code));
    ++position;
  }
  std::string out;
  for (const auto point : codes) {
    append_utf8(point, out);
  }
  return out;
}

}  // namespace lumbre
