// Names and types of the Itanium C++ mangling (sections 5.1.2 to 5.1.5).
#include <cctype>

#include "symbolizer/demangle_cost_parser.h"

namespace lumbre {

std::uint64_t CostParser::run() {
  if (!take("_Z")) {
    return 0;
  }
  const auto length = encoding();
  const bool is_whole = at_ == text_.size() || text_[at_] == '.';
  return failed_ || !is_whole ? 0 : std::max<std::uint64_t>(length, 1);
}

bool CostParser::is_at_end_of_encoding() const {
  const char c = peek();
  return c == '\0' || c == 'E' || c == '.' || c == '@';
}

CostParser::Length CostParser::encoding() {
  const Nesting nesting(*this);
  if (peek() == 'T' || (peek() == 'G' && !is_digit(peek(1)))) {
    return special_name();
  }
  const auto outer = std::exchange(longest_argument_, 0);
  Length length = name(/*is_of_encoding=*/true);
  while (!failed_ && !is_at_end_of_encoding()) {
    length = sum(length, type() + 2);
  }
  longest_argument_ = outer;
  return length;
}

CostParser::Length CostParser::special_name() {
  constexpr Length kPhrase = 40;  // "construction vtable for "
  if (take("TV") || take("TI") || take("TS") || take("TT")) {
    return sum(kPhrase, type());
  }
  if (take("TH") || take("TW") || take("GV")) {
    return sum(kPhrase, name(false));
  }
  if (take("GR")) {
    const auto length = name(false);
    substitution_index();
    return sum(kPhrase, length);
  }
  if (take("TC")) {
    const auto length = type();
    skip_digits();
    expect("_");
    return sum(kPhrase, sum(length, type()));
  }
  if (take("GTt") || take("GTn")) {
    return sum(kPhrase, encoding());
  }
  if (take("Tc")) {
    call_offset();
    call_offset();
    return sum(kPhrase, encoding());
  }
  if (take("T") && (peek() == 'h' || peek() == 'v')) {
    call_offset();
    return sum(kPhrase, encoding());
  }
  return fail();
}

void CostParser::call_offset() {
  const bool is_virtual = peek() == 'v';
  failed_ = failed_ || (!is_virtual && peek() != 'h');
  advance(1);
  skip_number_and_underscore();
  if (is_virtual) {
    skip_number_and_underscore();
  }
}

CostParser::Length CostParser::name(bool is_of_encoding) {
  const Nesting nesting(*this);
  if (peek() == 'N') {
    return nested_name(is_of_encoding);
  }
  if (peek() == 'Z') {
    return local_name();
  }
  Length length = 0;
  if (peek() == 'S' && peek(1) != 't') {
    length = substitution();
  } else {
    length = take("St") ? 5 : 0;
    length = sum(length, unqualified_name());
    if (peek() == 'I') {
      keep(length);
    }
  }
  return peek() == 'I' ? sum(length, arguments(is_of_encoding)) : length;
}

CostParser::Length CostParser::nested_name(bool is_of_encoding) {
  expect("N");
  take("H");
  while (take("r") || take("V") || take("K")) {
  }
  if (!take("R")) {
    take("O");
  }
  Length length = 0;
  while (!failed_ && !take("E")) {
    bool is_kept = true;
    if (take("St")) {
      length = 3;
      is_kept = false;
    } else if (peek() == 'S') {
      length = substitution();
      is_kept = false;
    } else if (peek() == 'T') {
      length = template_parameter();
    } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
      length = decltype_type();
    } else if (peek() == 'I') {
      length = sum(length, arguments(is_of_encoding));
    } else if (take("M")) {
      is_kept = false;  // the member whose initializer holds a lambda
    } else {
      length = sum(length, unqualified_name() + 2);
    }
    if (is_kept && peek() != 'E') {
      keep(length);
    }
  }
  return length;
}

CostParser::Length CostParser::local_name() {
  expect("Z");
  Length length = encoding();
  expect("E");
  if (take("s")) {
    discriminator();
    return length + 16;
  }
  if (take("d")) {
    skip_number_and_underscore();
  }
  length = sum(length, name(false) + 2);
  discriminator();
  return length;
}

void CostParser::discriminator() {
  if (take("__")) {
    skip_digits();
    expect("_");
  } else if (peek() == '_' && is_digit(peek(1))) {
    advance(2);
  }
}

CostParser::Length CostParser::unqualified_name() {
  const Nesting nesting(*this);
  while (take("L") || take("F")) {
  }
  Length length = 0;
  if (is_digit(peek())) {
    length = source_name();
  } else if (take("Ul")) {
    length = 16 + list("E", [this] { return type(); });
    skip_number_and_underscore();
  } else if (take("Ut")) {
    skip_number_and_underscore();
    length = 20;
  } else if (take("CI")) {
    advance(1);
    length = sum(last_source_name_, type());
  } else if (take("DC")) {
    length = list("E", [this] { return source_name(); });
  } else if ((peek() == 'C' || peek() == 'D') && is_digit(peek(1))) {
    advance(2);
    length = last_source_name_ + 1;
  } else {
    length = operator_name();
  }
  while (take("B")) {
    length = sum(length, source_name() + 6);
  }
  return length;
}

CostParser::Length CostParser::source_name() {
  std::size_t count = 0;
  if (!is_digit(peek())) {
    return fail();
  }
  while (is_digit(peek()) && count < text_.size()) {
    count = count * 10 + static_cast<std::size_t>(text_[at_++] - '0');
  }
  if (count == 0 || count > text_.size() - at_) {
    return fail();
  }
  advance(count);
  constexpr std::size_t kAnonymous = 21;  // "_GLOBAL__N_1" is "(anonymous namespace)"
  last_source_name_ = std::max(count, kAnonymous);
  return last_source_name_;
}

CostParser::Length CostParser::operator_name() {
  if (take("cv")) {
    return sum(10, type());
  }
  if (take("li")) {
    return source_name() + 12;
  }
  if (take("on")) {
    return operator_name();
  }
  if (!is_lower(peek()) || !std::isalpha(static_cast<unsigned char>(peek(1)))) {
    return fail();
  }
  advance(2);
  return 18;  // "operator delete[]"
}

std::size_t CostParser::substitution_index() {
  std::size_t index = 0;
  bool has_digits = false;
  for (char c = peek(); is_digit(c) || (c >= 'A' && c <= 'Z'); c = peek()) {
    index = std::min<std::size_t>(
        index * 36 + static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10), text_.size());
    has_digits = true;
    advance(1);
  }
  expect("_");
  return has_digits ? index + 1 : 0;
}

CostParser::Length CostParser::substitution() {
  constexpr Length kStandard = 80;  // "std::basic_string<char, std::char_traits<char>, ..."
  expect("S");
  if (is_lower(peek())) {
    advance(1);
    Length length = kStandard;
    last_source_name_ = 16;
    while (take("B")) {
      length = keep(sum(length, source_name() + 6));
    }
    return length;
  }
  const auto index = substitution_index();
  return index < substitutions_.size() ? substitutions_[index] : fail();
}

CostParser::Length CostParser::template_parameter() {
  expect("T");
  if (take("L")) {
    skip_digits();
    expect("_");
  }
  skip_digits();
  expect("_");
  return sum(longest_argument_, 8);  // "auto:12" where there is no argument
}

CostParser::Length CostParser::arguments(bool is_of_encoding) {
  const Nesting nesting(*this);
  expect("I");
  Length longest = 0;
  const Length length = list("E", [&] {
    const auto argument = template_argument();
    longest = std::max(longest, argument);
    return argument;
  });
  if (is_of_encoding) {
    longest_argument_ = std::max(longest_argument_, longest);
  }
  return length + 3;
}

CostParser::Length CostParser::type() {
  const Nesting nesting(*this);
  const char c = peek();
  if (c == 'r' || c == 'V' || c == 'K') {
    while (take("r") || take("V") || take("K")) {
    }
    return keep(sum(type(), 16));
  }
  if (c == 'P' || c == 'R' || c == 'O' || c == 'C' || c == 'G') {
    advance(1);
    return keep(sum(type(), 10));
  }
  if (c == 'u') {
    advance(1);
    const auto length = source_name();
    return keep(peek() == 'I' ? sum(length, arguments(false)) : length);
  }
  if (is_lower(c)) {
    advance(1);
    return 18;  // "unsigned long long"
  }
  switch (c) {
    case 'F':
      return function_type();
    case 'A':
      return array_type();
    case 'M': {
      advance(1);
      const auto member_of = type();
      return keep(sum(member_of, type() + 4));
    }
    case 'S':
      return substitution_type();
    case 'T':
      return parameter_type();
    case 'D':
      return extended_type();
    case 'U':
      return vendor_type();
    default:
      return keep(name(false));
  }
}

CostParser::Length CostParser::function_type() {
  expect("F");
  take("Y");
  Length length = 4;
  while (!failed_ && !take("E")) {
    if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
      advance(1);
      continue;
    }
    length = sum(length, type() + 2);
  }
  return keep(length);
}

CostParser::Length CostParser::array_type() {
  expect("A");
  Length length = 4;
  if (is_digit(peek())) {
    const auto start = at_;
    skip_digits();
    length += at_ - start;
  } else if (peek() != '_') {
    length = sum(length, expression());
  }
  expect("_");
  return keep(sum(length, type()));
}

CostParser::Length CostParser::substitution_type() {
  if (peek(1) == 't') {
    return keep(name(false));
  }
  const auto length = substitution();
  return peek() == 'I' ? keep(sum(length, arguments(false))) : length;
}

CostParser::Length CostParser::parameter_type() {
  if (take("Ts") || take("Tu") || take("Te")) {
    return keep(sum(7, name(false)));
  }
  const auto length = keep(template_parameter());
  return peek() == 'I' ? keep(sum(length, arguments(false))) : length;
}

CostParser::Length CostParser::extended_type() {
  const char kind = peek(1);
  if (kind == 't' || kind == 'T') {
    return keep(decltype_type());
  }
  advance(2);
  switch (kind) {
    case 'p':
      return keep(sum(type(), 3));
    case 'v':
      if (take("_")) {
        const auto size = expression();
        expect("_");
        return keep(sum(size, type() + 12));
      }
      skip_number_and_underscore();
      return keep(sum(type(), 32));
    case 'o':
    case 'x':
      return sum(type(), 32);
    case 'O': {
      const auto condition = expression();
      expect("E");
      return sum(condition, type() + 12);
    }
    case 'w': {
      const auto thrown = list("E", [this] { return type(); });
      return sum(thrown, type() + 12);
    }
    case 'F':
      skip_digits();
      failed_ = failed_ || !(take("_") || take("b") || take("x"));
      return 16;
    case 'B':
    case 'U':
      skip_number_and_underscore();
      return 32;
    default:
      return is_lower(kind) ? 16 : fail();  // decimal floats, char8_t, auto, nullptr_t
  }
}

CostParser::Length CostParser::vendor_type() {
  if (peek(1) == 'l' || peek(1) == 't') {
    return keep(name(false));
  }
  expect("U");
  Length length = source_name();
  length = peek() == 'I' ? sum(length, arguments(false)) : length;
  return keep(sum(length, type() + 1));
}

}  // namespace lumbre
