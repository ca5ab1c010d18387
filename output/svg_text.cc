#include "output/svg_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "output/utf8.h"

namespace lumbre::output {
namespace {

constexpr std::string_view kEllipsis = "\u2026";
constexpr double kFontSize = 12;

// Advances of U+0020 to U+007E in hundredths of the font size (DejaVu Sans, rounded up).
constexpr std::array<std::uint8_t, 95> kAdvances = {
    32, 41, 46, 84, 64, 96, 78, 28, 40,  40, 50, 84, 32, 37, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 78, 64, 58, 78, 76, 30, 30, 66, 56, 87, 75, 79,
    61, 79, 70, 64, 62, 74, 69, 99, 69,  62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36, 64,
    64, 28, 28, 58, 28, 98, 64, 62, 64,  64, 42, 53, 40, 64, 60, 82, 60, 60, 53, 64, 34, 64, 84};

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// Code points that XML 1.0 forbids (controls, U+FFFE, U+FFFF), the C1 controls, line and paragraph
// separators, and the marks that would turn the text around them (U+202A to U+202E, U+2066 to
// U+2069).
bool is_unprintable(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (sequence.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (sequence.size() != 3) return false;
  if (byte(0) == 0xef) return byte(1) == 0xbf && byte(2) >= 0xbe;
  if (byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

double advance(char first_byte) {
  const auto byte = static_cast<unsigned char>(first_byte);
  const unsigned hundredths = byte >= 0x20 && byte < 0x7f ? kAdvances[byte - 0x20] : 100;
  return hundredths * kFontSize / 100;
}

// Where the parts of a qualified name begin, the last first: behind each "::" outside of brackets.
// "{lambda}" and the like say nothing without the part before them.
std::vector<std::size_t> part_starts(std::string_view name) {
  std::vector<std::size_t> starts;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    const char c = name[i];
    if (c == '>' || c == ')' || c == ']' || c == '}') ++depth;
    if (c == '<' || c == '(' || c == '[' || c == '{') --depth;
    if (depth == 0 && c == ':' && i > 0 && name[i - 1] == ':' && i + 1 < name.size()) {
      if (name[i + 1] != '{') starts.push_back(i + 1);
      --i;
    }
  }
  return starts;
}

std::string cut_label(std::string_view text, double width) {
  double used = advance('\x80');  // the ellipsis
  std::size_t length = 0;
  std::size_t characters = 0;
  while (length < text.size() && used + advance(text[length]) <= width) {
    used += advance(text[length]);
    do {
      ++length;
    } while (length < text.size() && is_continuation(text[length]));
    ++characters;
  }
  if (characters < 2) return "";  // one letter and dots tell nothing
  return std::string(text.substr(0, length)) + std::string(kEllipsis);
}

// Three significant digits.
std::string short_number(double number) {
  std::array<char, 64> text{};
  const double size = std::fabs(number);
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

struct Step {
  double size;
  std::string_view name;
};

template <std::size_t kCount>
std::string in_largest_unit(double value, const std::array<Step, kCount>& steps) {
  for (const Step& step : steps) {
    // 0.9995 of a unit would be shown as "1000" of the next smaller one.
    if (std::fabs(value) >= step.size * 0.9995) {
      return short_number(value / step.size) + " " + std::string(step.name);
    }
  }
  return short_number(value / steps.back().size) + " " + std::string(steps.back().name);
}

std::string human_nanoseconds(double nanoseconds) {
  static constexpr std::array<Step, 4> kSteps = {
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}, {1, "ns"}}};
  if (nanoseconds >= 3.6e12) return short_number(nanoseconds / 3.6e12) + " h";
  if (nanoseconds >= 6e11) return short_number(nanoseconds / 6e10) + " min";  // from ten on
  return in_largest_unit(nanoseconds, kSteps);
}

std::string human_bytes(double bytes) {
  static constexpr std::array<Step, 5> kSteps = {{{1099511627776.0, "TiB"},
                                                  {1073741824.0, "GiB"},
                                                  {1048576.0, "MiB"},
                                                  {1024.0, "KiB"},
                                                  {1, "B"}}};
  if (std::fabs(bytes) < 1023.5) return std::to_string(std::llround(bytes)) + " B";
  return in_largest_unit(bytes, kSteps);
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string valid;
  append_valid_utf8(valid, text);
  std::string out;
  std::size_t ill_formed = 0;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view sequence = rest.substr(0, utf8_sequence_length(rest, ill_formed));
    out += is_unprintable(sequence) ? kReplacementCharacter : sequence;
    rest.remove_prefix(sequence.size());
  }
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '&':
        out += "\\u0026";
        break;
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      default:
        out += c;
    }
  }
  return out + "\"";
}

double label_width(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    if (!is_continuation(c)) width += advance(c);
  }
  return width;
}

std::string fit_label(std::string_view name, double width) {
  if (label_width(name) <= width) return std::string(name);
  std::string fitting;
  std::string_view last_part = name;
  bool is_first = true;
  for (const std::size_t start : part_starts(name)) {
    if (is_first) last_part = name.substr(start);
    is_first = false;
    std::string candidate = std::string(kEllipsis) + std::string(name.substr(start));
    if (label_width(candidate) > width) break;
    fitting = std::move(candidate);
  }
  return fitting.empty() ? cut_label(last_part, width) : fitting;
}

std::string human_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

std::string human_value(std::int64_t value, std::string_view unit) {
  const auto number = static_cast<double>(value);
  if (unit == "nanoseconds" || unit == "ns") return human_nanoseconds(number);
  if (unit == "microseconds" || unit == "us") return human_nanoseconds(number * 1e3);
  if (unit == "milliseconds" || unit == "ms") return human_nanoseconds(number * 1e6);
  if (unit == "seconds" || unit == "s") return human_nanoseconds(number * 1e9);
  if (unit == "bytes" || unit == "B") return human_bytes(number);
  if (unit == "kilobytes" || unit == "kb") return human_bytes(number * 1024);
  std::string text = human_count(static_cast<std::uint64_t>(value < 0 ? 0 : value));
  if (unit.empty() || unit == "count") return text;
  return text + " " + clean_text(unit);
}

std::string human_share(std::int64_t part, std::int64_t whole) {
  if (whole <= 0 || part <= 0) return "0%";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (part == whole) return "100%";
  if (percent < 0.01) return "<0.01%";
  return short_number(std::min(percent, 99.9)) + "%";
}

}  // namespace lumbre::output
