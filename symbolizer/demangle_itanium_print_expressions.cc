#include <algorithm>
#include <array>
#include <utility>

#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre::itanium {
namespace {

// What a literal of this type has behind it; nothing when it has the type before it.
std::optional<std::string_view> literal_suffix(const Node& type) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSuffixes = {{
      {"int", ""},
      {"unsigned int", "u"},
      {"long", "l"},
      {"unsigned long", "ul"},
      {"long long", "ll"},
      {"unsigned long long", "ull"},
  }};
  if (type.kind != Kind::kBuiltin) {
    return std::nullopt;
  }
  for (const auto& [name, suffix] : kSuffixes) {
    if (name == type.text) {
      return suffix;
    }
  }
  return std::nullopt;
}

}  // namespace

void Printer::print_expression(const Node& node) {
  switch (node.kind) {
    case Kind::kLiteral:
      print_literal(node);
      return;
    case Kind::kPrefix: {
      put(node.text);
      const Node& operand = at(node.a);
      // The address of a function is that of its name.
      const bool is_address =
          node.text == "&" && operand.kind == Kind::kFunction && operand.flags == 0;
      const bool is_plain = is_address && at(operand.a).kind == Kind::kNested;
      print_operand(is_plain ? operand.a : node.a);
      return;
    }
    case Kind::kSuffix:
      print_operand(node.a);
      put(node.text);
      return;
    case Kind::kParenthesised:
      put(node.text);
      put("(");
      print(node.a);
      put(")");
      return;
    case Kind::kBinary:
      print_binary(node);
      return;
    case Kind::kIndex:
      print_operand(node.a);
      put("[");
      print(node.b);
      put("]");
      return;
    case Kind::kConditional:
      print_operand(node.number);
      put("?");
      print_operand(node.a);
      put(" : ");
      print_operand(node.b);
      return;
    case Kind::kCall:
      print_call(node);
      return;
    default:
      print_other_expression(node);
  }
}

void Printer::print_other_expression(const Node& node) {
  switch (node.kind) {
    case Kind::kCast:
      put("(");
      print(node.a);
      put(")");
      print_operand(node.b);
      return;
    case Kind::kNamedCast:
      put(node.text);
      put("<");
      print(node.a);
      put(">(");
      print(node.b);
      put(")");
      return;
    case Kind::kBraces:
      node.a == kNone ? void() : print(node.a);
      put("{");
      print_list(tree_.list(node.b));
      put("}");
      return;
    case Kind::kList:
      print_list(tree_.list(static_cast<NodeId>(&node - &at(0))));
      return;
    case Kind::kNew:
      print_new(node);
      return;
    case Kind::kFold:
      print_fold(node);
      return;
    case Kind::kParameter:
      node.number == 0 ? put("this") : print_numbered("{parm#", node.number, "}");
      return;
    case Kind::kPackSize: {
      const bool is_pack = at(node.a).kind == Kind::kPack;
      const auto length = is_pack ? tree_.list(at(node.a).a).size() : pack_length(node.a);
      put(length.has_value() ? std::to_string(*length) : "sizeof...");
      return;
    }
    case Kind::kGlobal:
      put("::");
      print(node.a);
      return;
    default:
      failed_ = failed_ || node.kind != Kind::kEmpty;
  }
}

void Printer::print_operand(NodeId id) {
  const Kind kind = at(id).kind;
  const bool is_simple = kind == Kind::kName || kind == Kind::kNested || kind == Kind::kBraces ||
                         kind == Kind::kParameter;
  put(is_simple ? "" : "(");
  print(id);
  put(is_simple ? "" : ")");
}

void Printer::print_literal(const Node& node) {
  auto value = node.text;
  const Node& type = at(node.a);
  if (type.kind == Kind::kBuiltin && type.text == "bool" && (value == "0" || value == "1")) {
    put(value == "0" ? "false" : "true");
    return;
  }
  if (value.empty() && type.kind == Kind::kBuiltin) {
    print(node.a);  // nullptr
    return;
  }
  const bool is_negative = value.substr(0, 1) == "n";
  value.remove_prefix(is_negative ? 1 : 0);
  const auto suffix = literal_suffix(type);
  if (!suffix.has_value()) {
    put("(");
    print(node.a);
    put(")");
  }
  put(is_negative ? "-" : "");
  const bool is_float = type.text == "float" || type.text == "double" || type.text == "long double";
  const bool has_brackets = type.kind == Kind::kBuiltin && is_float;
  put(has_brackets ? "[" : "");
  put(value);
  put(has_brackets ? "]" : "");
  put(suffix.value_or(""));
}

void Printer::print_binary(const Node& node) {
  // "a > b" would end a list of template arguments.
  const bool is_greater = node.text == ">";
  put(is_greater ? "(" : "");
  print_operand(node.a);
  put(node.text);
  print_operand(node.b);
  put(is_greater ? ")" : "");
}

void Printer::print_call(const Node& node) {
  const Node& function = at(node.a);
  print_operand(function.kind == Kind::kFunction ? function.a : node.a);
  put("(");
  print_list(tree_.list(node.b));
  put(")");
}

void Printer::print_new(const Node& node) {
  put(node.text);
  put(" ");
  if (!tree_.list(node.number).empty()) {
    put("(");
    print_list(tree_.list(node.number));
    put(") ");
  }
  print(node.a);
  if (node.b != kNone) {
    const bool is_list = at(node.b).kind == Kind::kList;
    put(is_list ? "(" : "");
    print(node.b);
    put(is_list ? ")" : "");
  }
}

void Printer::print_fold(const Node& node) {
  put("(");
  if (node.flags != 0 && node.b == kNone) {
    put("...");
    put(node.text);
    print_operand(node.a);
  } else {
    print_operand(node.a);
    put(node.text);
    put("...");
    if (node.b != kNone) {
      put(node.text);
      print_operand(node.b);
    }
  }
  put(")");
}

}  // namespace lumbre::itanium
