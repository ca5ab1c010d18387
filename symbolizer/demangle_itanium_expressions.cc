// Expressions: section 5.1.7 of the Itanium C++ ABI.
#include <algorithm>

#include "symbolizer/demangle_itanium_parser.h"

namespace lumbre::itanium {
namespace {

// Sorted by code.
constexpr Operator kOperators[] = {
    {"aN", "&=", 2},
    {"aS", "=", 2},
    {"aa", "&&", 2},
    {"ad", "&", 1},
    {"an", "&", 2},
    {"at", "alignof ", 0},
    {"aw", "co_await ", 1},
    {"az", "alignof ", 1},
    {"cc", "const_cast", 0},
    {"cl", "()", 0},
    {"cm", ",", 2},
    {"co", "~", 1},
    {"dV", "/=", 2},
    {"dX", "[...]=", 0},
    {"da", "delete[] ", 1},
    {"dc", "dynamic_cast", 0},
    {"de", "*", 1},
    {"dl", "delete ", 1},
    {"ds", ".*", 2},
    {"dt", ".", 2},
    {"dv", "/", 2},
    {"eO", "^=", 2},
    {"eo", "^", 2},
    {"eq", "==", 2},
    {"ge", ">=", 2},
    {"gt", ">", 2},
    {"ix", "[]", 0},
    {"lS", "<<=", 2},
    {"le", "<=", 2},
    {"ls", "<<", 2},
    {"lt", "<", 2},
    {"mI", "-=", 2},
    {"mL", "*=", 2},
    {"mi", "-", 2},
    {"ml", "*", 2},
    {"mm", "--", 0},
    {"na", "new[]", 0},
    {"ne", "!=", 2},
    {"ng", "-", 1},
    {"nt", "!", 1},
    {"nw", "new", 0},
    {"nx", "noexcept", 1},
    {"oR", "|=", 2},
    {"oo", "||", 2},
    {"or", "|", 2},
    {"pL", "+=", 2},
    {"pl", "+", 2},
    {"pm", "->*", 2},
    {"pp", "++", 0},
    {"ps", "+", 1},
    {"pt", "->", 2},
    {"qu", "?", 0},
    {"rM", "%=", 2},
    {"rS", ">>=", 2},
    {"rc", "reinterpret_cast", 0},
    {"rm", "%", 2},
    {"rs", ">>", 2},
    {"sc", "static_cast", 0},
    {"ss", "<=>", 2},
    {"st", "sizeof ", 0},
    {"sz", "sizeof ", 1},
    {"te", "typeid ", 1},
    {"ti", "typeid ", 0},
    {"tw", "throw ", 1},
};

}  // namespace

const Operator* find_operator(std::string_view code) {
  const auto* found = std::lower_bound(
      std::begin(kOperators), std::end(kOperators), code,
      [](const Operator& entry, std::string_view wanted) { return entry.code < wanted; });
  return found != std::end(kOperators) && found->code == code ? found : nullptr;
}

NodeId Parser::literal() {
  const Nesting nesting(*this);
  expect("L");
  if (take("_Z")) {
    const NodeId entity = encoding();
    expect("E");
    return entity;
  }
  const NodeId literal_type = type();
  const auto start = at_;
  while (!failed_ && peek() != 'E' && peek() != '\0') {
    advance(1);
  }
  const auto value = text_.substr(std::min(start, at_), at_ - std::min(start, at_));
  expect("E");
  return add({.kind = Kind::kLiteral, .a = literal_type, .text = value});
}

NodeId Parser::decltype_type() {
  advance(2);
  const NodeId value = expression();
  expect("E");
  return add({.kind = Kind::kDecltype, .a = value});
}

NodeId Parser::expression() {
  const Nesting nesting(*this);
  if (take("gs")) {
    const NodeId global = expression();
    return add({.kind = Kind::kGlobal, .a = global});
  }
  const char c = peek();
  if (c == 'L') {
    return literal();
  }
  if (c == 'T') {
    return template_parameter();
  }
  if (is_digit(c)) {
    return unresolved_name();
  }
  if (c == 'X' || c == 'J') {
    return template_argument();
  }
  if (take("fp") || (c == 'f' && peek(1) == 'L' && is_digit(peek(2)))) {
    return function_parameter();
  }
  const auto code = text_.substr(std::min(at_, text_.size()), 2);
  advance(2);
  return failed_ ? kNone : operation(code);
}

NodeId Parser::operation(std::string_view code) {
  const auto next = [this] { return expression(); };
  if (code == "cl" || code == "cp") {
    const NodeId function = expression();
    return add({.kind = Kind::kCall, .a = function, .b = list("E", next)});
  }
  if (code == "il" || code == "tl") {
    const NodeId of = code == "tl" ? type() : kNone;
    return add({.kind = Kind::kBraces, .a = of, .b = list("E", next)});
  }
  if (code == "cv") {
    return conversion();
  }
  if (code == "st" || code == "at" || code == "ti") {
    const NodeId of = type();
    return add({.kind = Kind::kParenthesised, .a = of, .text = find_operator(code)->text});
  }
  if (code == "dc" || code == "sc" || code == "cc" || code == "rc") {
    const NodeId to = type();
    const NodeId value = expression();
    return add({.kind = Kind::kNamedCast, .a = to, .b = value, .text = find_operator(code)->text});
  }
  if (code == "nw" || code == "na") {
    return new_expression(find_operator(code)->text);
  }
  if (code == "sr") {
    return scoped_name();
  }
  if (code == "on") {
    return with_arguments(operator_name());
  }
  if (code == "dn") {
    return unresolved_destructor();
  }
  if (code[0] == 'f' && (code[1] == 'l' || code[1] == 'r' || code[1] == 'L' || code[1] == 'R')) {
    return fold(code);
  }
  return plain_operation(code);
}

NodeId Parser::plain_operation(std::string_view code) {
  if (code == "tr") {
    return add_text(Kind::kName, "throw");
  }
  if (code == "sp") {
    const NodeId pattern = expression();
    return add({.kind = Kind::kExpansion, .a = pattern});
  }
  if (code == "sZ") {
    const NodeId pack = expression();
    return add({.kind = Kind::kPackSize, .a = pack});
  }
  if (code == "sP") {
    const NodeId items = list("E", [this] { return template_argument(); });
    return add({.kind = Kind::kPackSize, .a = add({.kind = Kind::kPack, .a = items})});
  }
  if (code == "pp" || code == "mm") {
    const Kind kind = take("_") ? Kind::kPrefix : Kind::kSuffix;
    const NodeId operand = expression();
    return add({.kind = kind, .a = operand, .text = code == "pp" ? "++" : "--"});
  }
  if (code == "ix") {
    const NodeId array = expression();
    const NodeId index = expression();
    return add({.kind = Kind::kIndex, .a = array, .b = index});
  }
  if (code == "qu") {
    Node choice = {.kind = Kind::kConditional, .number = expression()};
    choice.a = expression();
    choice.b = expression();
    return add(choice);
  }
  const Operator* known = find_operator(code);
  if (known == nullptr || known->operands == 0) {
    return fail();
  }
  Node result = {.kind = known->operands == 1 ? Kind::kPrefix : Kind::kBinary, .text = known->text};
  result.a = expression();
  result.b = known->operands == 2 ? expression() : kNone;
  return add(result);
}

// "fp_", "fp0_", "fpT" and, in a function type within others, "fL0p_".
NodeId Parser::function_parameter() {
  if (take("T")) {
    return add({.kind = Kind::kParameter});
  }
  if (take("fL")) {
    digits();
    expect("p");
  }
  qualifiers();
  return add({.kind = Kind::kParameter, .number = ordinal()});
}

NodeId Parser::conversion() {
  const NodeId to = type();
  const NodeId values = take("_") ? list("E", [this] { return expression(); }) : expression();
  return add({.kind = Kind::kCast, .a = to, .b = values});
}

NodeId Parser::new_expression(std::string_view text) {
  Node result = {.kind = Kind::kNew, .text = text};
  result.number = list("_", [this] { return expression(); });
  result.a = type();
  if (take("pi")) {
    result.b = list("E", [this] { return expression(); });
  } else if (!take("E")) {
    result.b = expression();
  }
  return add(result);
}

NodeId Parser::fold(std::string_view code) {
  const Operator* known = find_operator(text_.substr(std::min(at_, text_.size()), 2));
  advance(2);
  if (failed_ || known == nullptr) {
    return fail();
  }
  Node result = {.kind = Kind::kFold, .text = known->text};
  result.flags = code[1] == 'l' || code[1] == 'L' ? 1 : 0;
  result.a = expression();
  result.b = code[1] == 'L' || code[1] == 'R' ? expression() : kNone;
  return add(result);
}

NodeId Parser::unresolved_name() { return with_arguments(source_name()); }

NodeId Parser::unresolved_destructor() {
  const NodeId of = is_digit(peek()) ? unresolved_name() : type();
  return add({.kind = Kind::kPrefix, .a = of, .text = "~"});
}

NodeId Parser::scope_of_names(NodeId scope) {
  while (!failed_ && !take("E")) {
    const NodeId part = unresolved_name();
    scope = scope == kNone ? part : nested(scope, part);
  }
  return scope;
}

// "sr", then a type, or names up to "E", or "N", a type and names up to "E"; then a name in it.
NodeId Parser::scoped_name() {
  const auto start = at_;
  const auto substitution_count = substitutions_.size();
  const bool has_names_first = is_digit(peek());
  NodeId scope = has_names_first ? scope_of_names(kNone) : type();
  // What both forms begin with does not tell them apart. Few retries, since they may nest.
  constexpr int kMaxRetries = 8;
  if (failed_ && depth_ < kMaxDepth && retries_ < kMaxRetries) {
    ++retries_;
    failed_ = false;
    at_ = start;
    substitutions_.resize(substitution_count);
    take("N");
    scope = type();
    scope = has_names_first ? scope : scope_of_names(scope);
  }
  if (take("on")) {
    return nested(scope, with_arguments(operator_name()));
  }
  if (take("dn")) {
    return nested(scope, unresolved_destructor());
  }
  return nested(scope, with_arguments(unqualified_name()));
}

}  // namespace lumbre::itanium
