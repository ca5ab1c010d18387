#include "symbolizer/demangle_cost.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace lumbre {
namespace {

constexpr std::uint64_t kMaxLength = std::uint64_t{1} << 40;  // lengths stop growing here
constexpr int kMaxDepth = 300;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// The number of operands of an operator in an expression; 0 when it is none of the plain ones.
int operand_count(std::string_view code) {
  constexpr std::string_view kUnary[] = {"ps", "ng", "ad", "de", "co", "nt", "pp", "mm", "te",
                                         "sz", "az", "nx", "sp", "tw", "aw", "dl", "da", "sZ"};
  constexpr std::string_view kBinary[] = {"pl", "mi", "ml", "dv", "rm", "an", "or", "eo", "aS",
                                          "pL", "mI", "mL", "dV", "rM", "aN", "oR", "eO", "ls",
                                          "rs", "lS", "rS", "eq", "ne", "lt", "gt", "le", "ge",
                                          "ss", "aa", "oo", "cm", "pm", "ix", "dt", "pt", "ds"};
  if (std::find(std::begin(kUnary), std::end(kUnary), code) != std::end(kUnary)) {
    return 1;
  }
  if (std::find(std::begin(kBinary), std::end(kBinary), code) != std::end(kBinary)) {
    return 2;
  }
  return code == "qu" ? 3 : 0;
}

class CostParser {
 public:
  explicit CostParser(std::string_view text) : text_(text) {}

  // 0 when the text does not follow the grammar as it is known here.
  std::uint64_t run() {
    if (!take("_Z")) {
      return 0;
    }
    const auto length = encoding();
    const bool is_whole = at_ == text_.size() || text_[at_] == '.';
    return failed_ || !is_whole ? 0 : std::max<std::uint64_t>(length, 1);
  }

 private:
  using Length = std::uint64_t;

  class Nesting {
   public:
    explicit Nesting(CostParser& parser) : parser_(parser) {
      parser_.failed_ = ++parser_.depth_ > kMaxDepth || parser_.failed_;
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    CostParser& parser_;
  };

  char peek(std::size_t ahead = 0) const {
    return failed_ || at_ + ahead >= text_.size() ? '\0' : text_[at_ + ahead];
  }
  bool take(std::string_view wanted) {
    if (failed_ || text_.substr(at_, wanted.size()) != wanted) {
      return false;
    }
    at_ += wanted.size();
    return true;
  }
  void expect(std::string_view wanted) { failed_ = !take(wanted) || failed_; }
  Length fail() {
    failed_ = true;
    return 0;
  }
  static Length sum(Length a, Length b) { return std::min(a + b, kMaxLength); }
  Length keep(Length length) {  // a new substitution
    substitutions_.push_back(length);
    return length;
  }
  void skip_digits() {
    while (is_digit(peek())) {
      ++at_;
    }
  }
  void skip_number_and_underscore() {
    take("n");
    skip_digits();
    expect("_");
  }

  // Items until `end`.
  template <typename Item>
  Length list(std::string_view end, const Item& item) {
    Length length = 0;
    while (!failed_ && !take(end)) {
      length = sum(length, item() + 2);
    }
    return length;
  }

  bool is_at_end_of_encoding() const {
    const char c = peek();
    return c == '\0' || c == 'E' || c == '.' || c == '@';
  }

  Length encoding() {
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

  Length special_name() {
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

  void call_offset() {
    const bool is_virtual = peek() == 'v';
    failed_ = failed_ || (!is_virtual && peek() != 'h');
    ++at_;
    skip_number_and_underscore();
    if (is_virtual) {
      skip_number_and_underscore();
    }
  }

  Length name(bool is_of_encoding) {
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

  Length nested_name(bool is_of_encoding) {
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

  Length local_name() {
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

  void discriminator() {
    if (take("__")) {
      skip_digits();
      expect("_");
    } else if (peek() == '_' && is_digit(peek(1))) {
      at_ += 2;
    }
  }

  Length unqualified_name() {
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
      ++at_;
      length = sum(last_source_name_, type());
    } else if (take("DC")) {
      length = list("E", [this] { return source_name(); });
    } else if ((peek() == 'C' || peek() == 'D') && is_digit(peek(1))) {
      at_ += 2;
      length = last_source_name_ + 1;
    } else {
      length = operator_name();
    }
    while (take("B")) {
      length = sum(length, source_name() + 6);
    }
    return length;
  }

  Length source_name() {
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
    at_ += count;
    constexpr std::size_t kAnonymous = 21;  // "_GLOBAL__N_1" is "(anonymous namespace)"
    last_source_name_ = std::max(count, kAnonymous);
    return last_source_name_;
  }

  Length operator_name() {
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
    at_ += 2;
    return 18;  // "operator delete[]"
  }

  std::size_t substitution_index() {
    std::size_t index = 0;
    bool has_digits = false;
    for (char c = peek(); is_digit(c) || (c >= 'A' && c <= 'Z'); c = peek()) {
      index = std::min<std::size_t>(
          index * 36 + static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10),
          text_.size());
      has_digits = true;
      ++at_;
    }
    expect("_");
    return has_digits ? index + 1 : 0;
  }

  Length substitution() {
    constexpr Length kStandard = 80;  // "std::basic_string<char, std::char_traits<char>, ..."
    expect("S");
    if (is_lower(peek())) {
      ++at_;
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

  Length template_parameter() {
    expect("T");
    if (take("L")) {
      skip_digits();
      expect("_");
    }
    skip_digits();
    expect("_");
    return sum(longest_argument_, 8);  // "auto:12" where there is no argument
  }

  Length arguments(bool is_of_encoding) {
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

  Length template_argument() {
    const Nesting nesting(*this);
    if (take("X")) {
      const auto length = expression();
      expect("E");
      return length;
    }
    if (take("J") || take("I")) {  // "I" is how a pack was written before the ABI had "J"
      return list("E", [this] { return template_argument(); });
    }
    if (take("Ty")) {
      return template_argument();
    }
    if (take("Tn")) {
      type();
      return template_argument();
    }
    return peek() == 'L' ? literal() : type();
  }

  Length literal() {
    const Nesting nesting(*this);
    expect("L");
    if (take("_Z")) {
      const auto length = encoding();
      expect("E");
      return length + 2;
    }
    Length length = type() + 2;
    while (!failed_ && at_ < text_.size() && peek() != 'E') {
      ++at_;
      ++length;
    }
    expect("E");
    return length;
  }

  Length decltype_type() {
    at_ += 2;
    const auto length = expression();
    expect("E");
    return sum(length, 12);
  }

  Length type() {
    const Nesting nesting(*this);
    const char c = peek();
    if (c == 'r' || c == 'V' || c == 'K') {
      while (take("r") || take("V") || take("K")) {
      }
      return keep(sum(type(), 16));
    }
    if (c == 'P' || c == 'R' || c == 'O' || c == 'C' || c == 'G') {
      ++at_;
      return keep(sum(type(), 10));
    }
    if (c == 'u') {
      ++at_;
      const auto length = source_name();
      return keep(peek() == 'I' ? sum(length, arguments(false)) : length);
    }
    if (is_lower(c)) {
      ++at_;
      return 18;  // "unsigned long long"
    }
    switch (c) {
      case 'F':
        return function_type();
      case 'A':
        return array_type();
      case 'M': {
        ++at_;
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

  Length function_type() {
    expect("F");
    take("Y");
    Length length = 4;
    while (!failed_ && !take("E")) {
      if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
        ++at_;
        continue;
      }
      length = sum(length, type() + 2);
    }
    return keep(length);
  }

  Length array_type() {
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

  Length substitution_type() {
    if (peek(1) == 't') {
      return keep(name(false));
    }
    const auto length = substitution();
    return peek() == 'I' ? keep(sum(length, arguments(false))) : length;
  }

  Length parameter_type() {
    if (take("Ts") || take("Tu") || take("Te")) {
      return keep(sum(7, name(false)));
    }
    const auto length = keep(template_parameter());
    return peek() == 'I' ? keep(sum(length, arguments(false))) : length;
  }

  Length extended_type() {
    const char kind = peek(1);
    if (kind == 't' || kind == 'T') {
      return keep(decltype_type());
    }
    at_ += 2;
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

  Length vendor_type() {
    if (peek(1) == 'l' || peek(1) == 't') {
      return keep(name(false));
    }
    expect("U");
    Length length = source_name();
    length = peek() == 'I' ? sum(length, arguments(false)) : length;
    return keep(sum(length, type() + 1));
  }

  Length expression() {
    const Nesting nesting(*this);
    constexpr Length kFrame = 24;  // parentheses, the operator, spaces
    take("gs");
    if (peek() == 'L') {
      return literal();
    }
    if (peek() == 'T') {
      return template_parameter();
    }
    if (is_digit(peek())) {
      return unresolved_name();
    }
    if (peek() == 'X' || peek() == 'J') {
      return template_argument();
    }
    if (take("fp") || (peek() == 'f' && peek(1) == 'L' && is_digit(peek(2)))) {
      return function_parameter();
    }
    const auto code = text_.substr(std::min(at_, text_.size()), 2);
    at_ = std::min(text_.size(), at_ + 2);
    if (code == "cl" || code == "cp" || code == "il" || code == "sP") {
      return kFrame + list("E", [this] { return expression(); });
    }
    if (code == "tl") {
      const auto length = type();
      return sum(length, kFrame + list("E", [this] { return expression(); }));
    }
    if (code == "cv") {
      const auto length = type();
      return sum(length,
                 kFrame + (take("_") ? list("E", [this] { return expression(); }) : expression()));
    }
    if (code == "st" || code == "at" || code == "ti") {
      return sum(kFrame, type());
    }
    if (code == "dc" || code == "sc" || code == "cc" || code == "rc") {
      const auto length = type();
      return sum(length, kFrame + expression());
    }
    if (code == "nw" || code == "na") {
      return new_expression();
    }
    if (code == "sr") {
      return scoped_name();
    }
    if (code == "on" || code == "dn") {
      return code == "on" ? with_arguments(operator_name()) : unresolved_destructor();
    }
    if (code == "fl" || code == "fr" || code == "fL" || code == "fR") {
      at_ += 2;
      const auto length = expression();
      return sum(length, kFrame + (code == "fL" || code == "fR" ? expression() : 0));
    }
    if (code == "tr" || code == "so") {
      return code == "tr" ? kFrame : fail();
    }
    if (code == "pp" || code == "mm") {
      take("_");
    }
    Length length = kFrame;
    const int operands = operand_count(code);
    failed_ = failed_ || operands == 0;
    for (int i = 0; i < operands && !failed_; ++i) {
      length = sum(length, expression());
    }
    return length;
  }

  Length function_parameter() {
    if (take("T")) {
      return 4;
    }
    if (take("fL")) {
      skip_digits();
      expect("p");
    }
    while (take("r") || take("V") || take("K")) {
    }
    skip_digits();
    expect("_");
    return 12;
  }

  Length new_expression() {
    Length length = 8 + list("_", [this] { return expression(); });
    length = sum(length, type());
    if (take("E")) {
      return length;
    }
    if (take("pi")) {
      return sum(length, list("E", [this] { return expression(); }));
    }
    return sum(length, expression());
  }

  Length with_arguments(Length length) {
    return peek() == 'I' ? sum(length, arguments(false)) : length;
  }
  Length unresolved_name() { return with_arguments(source_name()); }
  Length unresolved_destructor() { return 1 + (is_digit(peek()) ? unresolved_name() : type()); }

  // "sr" with a type and a name in it, or "N", a type, names and "E" before that name.
  Length scoped_name() {
    const auto start = at_;
    const auto substitution_count = substitutions_.size();
    Length length = type();
    if (failed_ && depth_ < kMaxDepth && text_.substr(start, 1) == "N" && !has_retried_) {
      has_retried_ = true;
      failed_ = false;
      at_ = start + 1;
      substitutions_.resize(substitution_count);
      length = type();
      length = sum(length, list("E", [this] { return unresolved_name(); }));
    }
    if (take("on")) {
      return sum(length, with_arguments(operator_name()) + 2);
    }
    if (take("dn")) {
      return sum(length, unresolved_destructor() + 2);
    }
    return sum(length, with_arguments(unqualified_name()) + 2);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  int depth_ = 0;
  Length longest_argument_ = 0;   // of the template arguments that T_ stands for
  Length last_source_name_ = 21;  // which constructors repeat
  bool has_retried_ = false;      // once, so that retries cannot nest
  std::vector<Length> substitutions_;
};

std::size_t count_substitutions(std::string_view mangled) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    const char next = mangled[i + 1];
    count += mangled[i] == 'S' && (next == '_' || is_digit(next) || (next >= 'A' && next <= 'Z'));
  }
  return count;
}

}  // namespace

std::uint64_t demangled_length(std::string_view mangled) { return CostParser(mangled).run(); }

bool is_cheap_to_demangle(std::string_view mangled) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;
  // So few cannot multiply to much: three times three, for each third of them.
  constexpr std::size_t kFewSubstitutions = 24;
  const auto length = demangled_length(mangled);
  return length == 0 ? count_substitutions(mangled) <= kFewSubstitutions : length <= kLimit;
}

}  // namespace lumbre
