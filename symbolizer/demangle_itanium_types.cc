// Types and template arguments: sections 5.1.5 and 5.1.6 of the Itanium C++ ABI.
#include "symbolizer/demangle_itanium_parser.h"

namespace lumbre::itanium {
namespace {

// By letter, from 'a'.
constexpr std::string_view kBuiltins[26] = {"signed char",
                                            "bool",
                                            "char",
                                            "double",
                                            "long double",
                                            "float",
                                            "__float128",
                                            "unsigned char",
                                            "int",
                                            "unsigned int",
                                            "",
                                            "long",
                                            "unsigned long",
                                            "__int128",
                                            "unsigned __int128",
                                            "",
                                            "",
                                            "",
                                            "short",
                                            "unsigned short",
                                            "",
                                            "void",
                                            "wchar_t",
                                            "long long",
                                            "unsigned long long",
                                            "..."};

std::string_view extended_builtin(char code) {
  switch (code) {
    case 'a':
      return "auto";
    case 'c':
      return "decltype(auto)";
    case 'd':
      return "decimal64";
    case 'e':
      return "decimal128";
    case 'f':
      return "decimal32";
    case 'h':
      return "half";
    case 'i':
      return "char32_t";
    case 's':
      return "char16_t";
    case 'u':
      return "char8_t";
    case 'n':
      return "decltype(nullptr)";
    default:
      return "";
  }
}

}  // namespace

std::string_view Parser::digits() {
  const auto start = at_;
  while (is_digit(peek())) {
    ++at_;
  }
  return text_.substr(start, at_ - start);
}

std::optional<std::uint32_t> Parser::number() {
  constexpr std::uint32_t kMax = 1U << 30;
  std::uint32_t value = 0;
  const auto text = digits();
  for (const char c : text) {
    value = value >= kMax / 10 ? kMax : value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return text.empty() ? std::nullopt : std::optional(value);
}

std::uint32_t Parser::ordinal() {
  const auto index = number();
  expect("_");
  return index.has_value() ? *index + 2 : 1;
}

std::optional<std::uint32_t> Parser::sequence_number() {
  constexpr std::uint32_t kMax = 1U << 24;
  std::uint32_t value = 0;
  bool has_digits = false;
  for (char c = peek(); is_digit(c) || (c >= 'A' && c <= 'Z'); c = peek()) {
    value = value >= kMax ? kMax : value * 36;
    value += static_cast<std::uint32_t>(is_digit(c) ? c - '0' : c - 'A' + 10);
    has_digits = true;
    ++at_;
  }
  if (!take("_")) {
    return std::nullopt;
  }
  return has_digits ? value + 1 : 0;
}

std::uint8_t Parser::qualifiers() {
  unsigned flags = 0;
  for (;; ++at_) {
    const char c = peek();
    if (c != 'r' && c != 'V' && c != 'K') {
      return static_cast<std::uint8_t>(flags);
    }
    flags |= c == 'r' ? kRestrict : c == 'V' ? kVolatile : kConst;
  }
}

NodeId Parser::wrapped_type(Kind kind) {
  advance(1);
  const NodeId inner = type();
  return keep(add({.kind = kind, .a = inner}));
}

NodeId Parser::type() {
  const Nesting nesting(*this);
  const char c = peek();
  switch (c) {
    case 'r':
    case 'V':
    case 'K': {
      const auto flags = qualifiers();
      const auto substitution_count = substitutions_.size();
      const bool is_function =
          peek() == 'F' || (peek() == 'D' && (peek(1) == 'o' || peek(1) == 'O' || peek(1) == 'w'));
      const NodeId inner = type();
      if (is_function && substitutions_.size() > substitution_count) {
        substitutions_.pop_back();  // the qualifiers are part of the type of a function
      }
      return keep(add({.kind = Kind::kQualified, .flags = flags, .a = inner}));
    }
    case 'P':
      return wrapped_type(Kind::kPointer);
    case 'R':
      return wrapped_type(Kind::kLeftReference);
    case 'O':
      return wrapped_type(Kind::kRightReference);
    case 'C':
    case 'G': {
      advance(1);
      const NodeId inner = type();
      const std::string_view text = c == 'C' ? "_Complex" : "_Imaginary";
      return keep(add({.kind = Kind::kSuffixed, .a = inner, .text = text}));
    }
    case 'u':
      advance(1);
      return keep(with_arguments(source_name()));
    case 'F':
      return function_type();
    case 'A':
      return array_type();
    case 'M':
      return member_pointer();
    case 'S':
      return substitution_type();
    case 'T':
      return parameter_type();
    case 'D':
      return extended_type();
    case 'U':
      return peek(1) == 'l' || peek(1) == 't' ? keep(name()) : vendor_qualified();
    default:
      break;
  }
  if (!is_lower(c)) {
    return keep(name());
  }
  advance(1);
  const auto text = kBuiltins[c - 'a'];
  return text.empty() ? fail() : add_text(Kind::kBuiltin, text);
}

NodeId Parser::function_type() {
  expect("F");
  take("Y");
  const NodeId returned = type();
  std::uint8_t flags = 0;
  const auto base = scratch_.size();
  while (!failed_ && !take("E")) {
    if (peek(1) == 'E' && (take("R") || take("O"))) {
      flags = text_[at_ - 1] == 'R' ? kLeftReferenceQualifier : kRightReferenceQualifier;
      continue;
    }
    const NodeId parameter = type();
    scratch_.push_back(parameter);
  }
  const NodeId parameters = make_list(base);
  return keep(add({.kind = Kind::kFunctionType, .flags = flags, .a = returned, .b = parameters}));
}

NodeId Parser::array_type() {
  expect("A");
  Node array = {.kind = Kind::kArray};
  if (is_digit(peek())) {
    array.text = digits();
  } else if (peek() != '_') {
    array.b = expression();
  }
  expect("_");
  array.a = type();
  return keep(add(array));
}

NodeId Parser::member_pointer() {
  expect("M");
  const NodeId owner = type();
  const NodeId member = type();
  return keep(add({.kind = Kind::kMemberPointer, .a = owner, .b = member}));
}

NodeId Parser::substitution_type() {
  if (peek(1) == 't') {
    return keep(name());
  }
  const NodeId known = substitution();
  return peek() == 'I' ? keep(with_arguments(known)) : known;
}

NodeId Parser::parameter_type() {
  if (take("Ts") || take("Tu") || take("Te")) {
    return keep(name());
  }
  const NodeId parameter = keep(template_parameter());
  if (peek() != 'I') {
    return parameter;
  }
  if (!is_conversion_) {
    return keep(with_arguments(parameter));
  }
  // The arguments may be those of the conversion operator; then no others follow.
  const auto start = at_;
  const auto substitution_count = substitutions_.size();
  const NodeId result = with_arguments(parameter);
  if (peek() == 'I') {
    return keep(result);
  }
  at_ = start;
  substitutions_.resize(substitution_count);
  return parameter;
}

NodeId Parser::extended_type() {
  const char kind = peek(1);
  if (kind == 't' || kind == 'T') {
    return keep(decltype_type());
  }
  advance(2);
  if (const auto text = extended_builtin(kind); !text.empty()) {
    return add_text(Kind::kBuiltin, text);
  }
  switch (kind) {
    case 'p': {
      const NodeId pattern = type();
      return keep(add({.kind = Kind::kExpansion, .a = pattern}));
    }
    case 'v':
      return vector_type();
    case 'o':
    case 'O':
    case 'w':
      return throwing_type(kind);
    case 'x':  // transaction-safe: not shown
      return type();
    case 'F': {
      const auto bits = digits();
      if (take("b")) {
        return add_text(Kind::kBuiltin, "std::bfloat16_t");
      }
      failed_ = failed_ || !(take("_") || take("x"));
      return add({.kind = Kind::kSuffixed, .a = add_text(Kind::kBuiltin, "_Float"), .text = bits});
    }
    case 'B':
    case 'U': {
      const std::string_view text = kind == 'B' ? "_BitInt" : "unsigned _BitInt";
      const NodeId size = is_digit(peek()) ? add_text(Kind::kName, digits()) : expression();
      expect("_");
      return keep(add({.kind = Kind::kParenthesised, .a = size, .text = text}));
    }
    default:
      return fail();
  }
}

NodeId Parser::vector_type() {
  Node vector = {.kind = Kind::kVector};
  if (is_digit(peek())) {
    vector.text = digits();
  } else {
    take("_");
    vector.b = expression();
  }
  expect("_");
  vector.a = take("p") ? add_text(Kind::kBuiltin, "pixel") : type();
  return keep(add(vector));
}

NodeId Parser::throwing_type(char kind) {
  Node result = {.kind = Kind::kThrows};
  result.text = kind == 'w' ? "throw" : "noexcept";
  if (kind == 'O') {
    result.b = expression();
    expect("E");
  } else if (kind == 'w') {
    result.b = list("E", [this] { return type(); });
  }
  result.a = function_type();
  if (!failed_) {  // what is thrown belongs to the type
    substitutions_.pop_back();
  }
  return keep(add(result));
}

NodeId Parser::vendor_qualified() {
  expect("U");
  const auto text = source_text();
  const NodeId arguments = peek() == 'I' ? template_arguments() : kNone;
  const NodeId inner = type();
  return keep(add({.kind = Kind::kSuffixed, .a = inner, .b = arguments, .text = text}));
}

// "T_", "T0_"; with a level ("TL0__") for what belongs to a lambda.
NodeId Parser::template_parameter() {
  expect("T");
  if (take("L")) {
    digits();
    expect("_");
  }
  return add({.kind = Kind::kTemplateParam, .number = ordinal() - 1});
}

NodeId Parser::with_arguments(NodeId name) {
  if (peek() != 'I') {
    return name;
  }
  return add({.kind = Kind::kTemplate, .a = name, .b = template_arguments()});
}

NodeId Parser::template_arguments() {
  const Nesting nesting(*this);
  const auto last = last_source_name_;
  expect("I");
  const auto base = scratch_.size();
  while (!failed_ && !take("E")) {
    if (take("Q")) {
      expression();  // a constraint: not shown
      continue;
    }
    const NodeId argument = template_argument();
    scratch_.push_back(argument);
  }
  last_source_name_ = last;
  return make_list(base);
}

NodeId Parser::template_argument() {
  const Nesting nesting(*this);
  if (take("X")) {
    const NodeId value = expression();
    expect("E");
    return value;
  }
  if (take("J") || take("I")) {  // "I" is how a pack was written before the ABI had "J"
    const NodeId items = list("E", [this] { return template_argument(); });
    return add({.kind = Kind::kPack, .a = items});
  }
  // What kind of parameter it is for, where that is not plain.
  if (take("Ty") || take("Tp")) {
    return template_argument();
  }
  if (take("Tn")) {
    type();
    return template_argument();
  }
  return peek() == 'L' ? literal() : type();
}

}  // namespace lumbre::itanium
