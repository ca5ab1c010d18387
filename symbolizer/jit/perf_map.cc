#include "symbolizer/jit/perf_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lumbre {
namespace {

constexpr std::size_t kMaxNumbersBytes = 64;

std::optional<std::uint64_t> take_hexadecimal(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.starts_with("0x") || line.starts_with("0X")) {
    line.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') {
    return std::nullopt;
  }
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return value;
}

void parse_line(std::string_view line, const PerfMapParser::Visitor& visit) {
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
  }
  const auto start = take_hexadecimal(line);
  const auto size_bytes = start.has_value() ? take_hexadecimal(line) : std::nullopt;
  if (size_bytes.has_value() && *size_bytes != 0 && !line.empty()) {
    visit({{*start}, *size_bytes, line.substr(0, PerfMapParser::kMaxNameBytes)});
  }
}

}  // namespace

void PerfMapParser::keep(std::string_view text) {
  constexpr std::size_t kLimit = kMaxNameBytes + kMaxNumbersBytes;
  unfinished_.append(text.substr(0, kLimit - std::min(kLimit, unfinished_.size())));
}

void PerfMapParser::feed(std::string_view text, const Visitor& visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      keep(text);
      return;
    }
    if (unfinished_.empty()) {
      parse_line(text.substr(0, end), visit);
    } else {
      keep(text.substr(0, end));
      parse_line(unfinished_, visit);
      unfinished_.clear();
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace lumbre
