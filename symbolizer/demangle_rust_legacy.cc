#include <algorithm>
#include <cstdint>

#include "symbolizer/demangle_rust.h"
#include "symbolizer/demangle_text.h"

namespace lumbre {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// "h" and 16 hex digits. A C++ name that ends so by accident would have few distinct digits.
bool is_hash(std::string_view part) {
  constexpr std::size_t kLength = 17;
  constexpr int kMinDistinctDigits = 5;
  if (part.size() != kLength || part[0] != 'h' ||
      !std::all_of(part.begin() + 1, part.end(), is_hex)) {
    return false;
  }
  std::string digits(part.substr(1));
  std::sort(digits.begin(), digits.end());
  return std::unique(digits.begin(), digits.end()) - digits.begin() >= kMinDistinctDigits;
}

// What one "$...$" stands for; appends nothing and returns false when it is unknown.
bool append_escape(std::string_view code, std::string& out) {
  struct Escape {
    std::string_view code;
    char text;
  };
  constexpr Escape kEscapes[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
                                 {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};
  for (const auto& escape : kEscapes) {
    if (code == escape.code) {
      out += escape.text;
      return true;
    }
  }
  if (code.size() < 2 || code.size() > 7 || code[0] != 'u' ||
      !std::all_of(code.begin() + 1, code.end(), is_hex)) {
    return false;
  }
  std::uint32_t value = 0;
  for (const char c : code.substr(1)) {
    value = value * 16 + static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
  }
  if (value < 0x20 || !is_unicode_scalar(value)) {
    return false;
  }
  append_utf8(value, out);
  return true;
}

void append_part(std::string_view part, std::string& out) {
  if (part.substr(0, 2) == "_$") {
    part.remove_prefix(1);  // the underscore only makes it an identifier
  }
  while (!part.empty()) {
    if (part.substr(0, 2) == "..") {
      out += "::";
      part.remove_prefix(2);
      continue;
    }
    const auto end = part[0] == '$' ? part.find('$', 1) : std::string_view::npos;
    if (end != std::string_view::npos && append_escape(part.substr(1, end - 1), out)) {
      part.remove_prefix(end + 1);
      continue;
    }
    out += part[0];
    part.remove_prefix(1);
  }
}

// Takes "<length><bytes>" off the front; empty when there is none.
std::string_view take_part(std::string_view& rest) {
  std::size_t length = 0;
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9' && digits < 6) {
    length = length * 10 + static_cast<std::size_t>(rest[digits] - '0');
    ++digits;
  }
  if (digits == 0 || length > rest.size() - digits) {
    return {};
  }
  const auto part = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return part;
}

}  // namespace

std::optional<std::string> demangle_rust_legacy(std::string_view mangled) {
  if (mangled.substr(0, 3) != "_ZN") {
    return std::nullopt;
  }
  auto rest = mangled.substr(3);
  std::string name;
  for (auto part = take_part(rest); !part.empty(); part = take_part(rest)) {
    const bool is_last = !rest.empty() && rest[0] == 'E';
    if (is_last) {
      return is_hash(part) && !name.empty() && (rest.size() == 1 || rest[1] == '.')
                 ? std::optional(std::move(name))
                 : std::nullopt;
    }
    name += name.empty() ? "" : "::";
    append_part(part, name);
  }
  return std::nullopt;
}

}  // namespace lumbre
