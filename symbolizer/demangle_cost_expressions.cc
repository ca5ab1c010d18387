// Template arguments and expressions of the Itanium C++ mangling (sections 5.1.6 and 5.1.7).
#include "symbolizer/demangle_cost_parser.h"

namespace lumbre {
namespace {

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

}  // namespace

CostParser::Length CostParser::template_argument() {
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

CostParser::Length CostParser::literal() {
  const Nesting nesting(*this);
  expect("L");
  if (take("_Z")) {
    const auto length = encoding();
    expect("E");
    return length + 2;
  }
  Length length = type() + 2;
  while (!failed_ && at_ < text_.size() && peek() != 'E') {
    advance(1);
    ++length;
  }
  expect("E");
  return length;
}

CostParser::Length CostParser::decltype_type() {
  advance(2);
  const auto length = expression();
  expect("E");
  return sum(length, 12);
}

CostParser::Length CostParser::expression() {
  const Nesting nesting(*this);
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
  const auto code = text_.substr(at_, 2);
  advance(code.size());
  return failed_ ? 0 : operation(code);
}

CostParser::Length CostParser::operation(std::string_view code) {
  constexpr Length kFrame = 24;  // parentheses, the operator, spaces
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
    advance(2);
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

CostParser::Length CostParser::function_parameter() {
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

CostParser::Length CostParser::new_expression() {
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

CostParser::Length CostParser::with_arguments(Length length) {
  return peek() == 'I' ? sum(length, arguments(false)) : length;
}

CostParser::Length CostParser::qualifying_names() {
  return list("E", [this] { return unresolved_name(); });
}

CostParser::Length CostParser::unresolved_name() { return with_arguments(source_name()); }

CostParser::Length CostParser::unresolved_destructor() {
  return 1 + (is_digit(peek()) ? unresolved_name() : type());
}

// "sr", then a type, or names up to "E", or "N", a type and names up to "E"; then a name in it.
CostParser::Length CostParser::scoped_name() {
  const auto start = at_;
  const auto substitution_count = substitutions_.size();
  const bool has_names_first = is_digit(peek());
  Length length = has_names_first ? qualifying_names() : type();
  // What both forms begin with does not tell them apart. Few retries, since they may nest.
  constexpr int kMaxRetries = 8;
  if (failed_ && depth_ < kMaxDepth && retries_ < kMaxRetries) {
    ++retries_;
    failed_ = false;
    at_ = start;
    substitutions_.resize(substitution_count);
    take("N");
    length = type();
    length = has_names_first ? length : sum(length, qualifying_names());
  }
  if (take("on")) {
    return sum(length, with_arguments(operator_name()) + 2);
  }
  if (take("dn")) {
    return sum(length, unresolved_destructor() + 2);
  }
  return sum(length, with_arguments(unqualified_name()) + 2);
}

}  // namespace lumbre
