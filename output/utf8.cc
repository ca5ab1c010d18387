#include "output/utf8.h"

#include <cstdint>

namespace lumbre::output {
namespace {

// What may follow a lead byte (Unicode 15, table 3-7): how many bytes, and the second one's range,
// which is where overlong forms, surrogates and values past U+10FFFF are told apart.
struct Lead {
  std::size_t length = 0;  // 0: not a lead byte
  std::uint8_t second_minimum = 0x80;
  std::uint8_t second_maximum = 0xBF;
};

Lead classify_lead(std::uint8_t byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

std::size_t utf8_sequence_length(std::string_view text, std::size_t& ill_formed_length) {
  ill_formed_length = 1;
  const Lead lead = classify_lead(static_cast<std::uint8_t>(text[0]));
  for (std::size_t i = 1; i < lead.length; ++i) {
    ill_formed_length = i;
    if (i == text.size()) return 0;
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t minimum = i == 1 ? lead.second_minimum : std::uint8_t{0x80};
    const std::uint8_t maximum = i == 1 ? lead.second_maximum : std::uint8_t{0xBF};
    if (byte < minimum || byte > maximum) return 0;
  }
  return lead.length;
}

bool is_valid_utf8(std::string_view text) {
  std::size_t ill_formed = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text, ill_formed);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_valid_utf8(std::string& out, std::string_view text) {
  std::size_t start = 0;  // of the part that is well formed and not copied yet
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t ill_formed = 0;
    const std::size_t length = utf8_sequence_length(text.substr(at), ill_formed);
    if (length != 0) {
      at += length;
      continue;
    }
    out.append(text.substr(start, at - start));
    out.append(kReplacementCharacter);
    at += ill_formed;
    start = at;
  }
  out.append(text.substr(start));
}

}  // namespace lumbre::output
