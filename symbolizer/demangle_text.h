// Character encodings that Rust names need. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lumbre {

void append_utf8(std::uint32_t code_point, std::string& out);
bool is_unicode_scalar(std::uint64_t value);  // a code point that is no surrogate

// Punycode (RFC 3492) with "_" in place of the last "-", as UTF-8. Nothing when it is broken.
std::optional<std::string> decode_punycode(std::string_view text);

}  // namespace lumbre
