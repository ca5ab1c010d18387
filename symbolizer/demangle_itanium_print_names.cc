#include <algorithm>
#include <utility>

#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre::itanium {

void Printer::print_numbered(std::string_view before, std::uint32_t number,
                             std::string_view after) {
  put(before);
  put(std::to_string(number));
  put(after);
}

void Printer::print_name(const Node& node) {
  switch (node.kind) {
    case Kind::kStandard:
      put(has_scopes_ ? node.text : node.text.substr(node.text.find(':') == 3 ? 5 : 0));
      return;
    case Kind::kName:
    case Kind::kConstructor:
      put(node.text);
      return;
    case Kind::kDestructor:
      put("~");
      put(node.text);
      return;
    case Kind::kNested:
      if (has_scopes_) {
        print(node.a);
        put("::");
      }
      print(node.b);
      return;
    case Kind::kLocal:
      print_local(node);
      return;
    case Kind::kTemplate:
      print_template(node);
      return;
    case Kind::kTagged:
      print(node.a);
      if (!is_short()) {
        put("[abi:");
        put(node.text);
        put("]");
      }
      return;
    case Kind::kOperator: {
      const bool is_word = node.text[0] >= 'a' && node.text[0] <= 'z';
      put(is_word ? "operator " : "operator");
      put(node.text.substr(0, node.text.find_last_not_of(' ') + 1));
      return;
    }
    case Kind::kConversion:
      put("operator ");
      print(node.a);
      return;
    case Kind::kLiteralOperator:
      put("operator\"\" ");
      put(node.text);
      return;
    case Kind::kLambda:
      print_lambda(node);
      return;
    case Kind::kUnnamed:
      print_numbered("{unnamed type#", node.number, "}");
      return;
    case Kind::kBinding:
      put("[");
      print_list(tree_.list(node.a));
      put("]");
      return;
    case Kind::kDefaultArgument:
      print_numbered("{default arg#", node.number, "}::");
      print(node.a);
      return;
    default:
      return;
  }
}

void Printer::print_encoding(const Node& node) {
  switch (node.kind) {
    case Kind::kFunction:
      print_function(node, /*has_return_type=*/true);
      return;
    case Kind::kSpecial:
      put(node.text);
      print(node.a);
      return;
    case Kind::kConstruction:
      put("construction vtable for ");
      print(node.a);
      put("-in-");
      print(node.b);
      return;
    case Kind::kReference:
      print_numbered("reference temporary #", node.number, " for ");
      print(node.a);
      return;
    case Kind::kClone:
      print(node.a);
      if (!is_short()) {
        put(" [clone ");
        put(node.text);
        put("]");
      }
      return;
    default:
      return;
  }
}

void Printer::print_local(const Node& node) {
  if (!has_scopes_) {
    print(node.b);
    return;
  }
  // The return type of the function is not that of what is in it.
  if (at(node.a).kind == Kind::kFunction) {
    print_function(at(node.a), /*has_return_type=*/false);
  } else {
    print(node.a);
  }
  put("::");
  print(node.b);
}

void Printer::print_template(const Node& node) {
  print(node.a);
  if (is_short()) {
    print_hint(node.b);
    return;
  }
  put(ends_with('<') ? " <" : "<");
  print_list(tree_.list(node.b));
  put(ends_with('>') ? " >" : ">");
}

// Lambdas are numbered among those of one function with the same parameters.
void Printer::print_lambda(const Node& node) {
  constexpr std::size_t kMaxShortSize = 24;
  put("{lambda");
  if (style_ != Style::kShortest) {
    const auto start = out_.size();
    const auto outer_limit = max_size_;
    max_size_ = is_short() ? std::min(max_size_, start + kMaxShortSize + 3) : max_size_;
    ++lambda_depth_;
    print_parameters(node.a);
    --lambda_depth_;
    max_size_ = outer_limit;
    if (is_short() && out_.size() > start + kMaxShortSize + 2) {
      out_.cut(start);
      put("(...)");
    }
  }
  print_numbered("#", node.number, "}");
}

// The template arguments that the parameters of a function refer to.
NodeId Printer::arguments_of(NodeId name) const {
  for (;;) {
    switch (at(name).kind) {
      case Kind::kLocal:
        name = at(name).b;
        break;
      case Kind::kDefaultArgument:
      case Kind::kTagged:
        name = at(name).a;
        break;
      default:
        return at(name).kind == Kind::kTemplate ? at(name).b : kNone;
    }
  }
}

void Printer::print_function(const Node& node, bool has_return_type) {
  const Step step(*this);
  const Node& type = at(node.b);
  const NodeId arguments = arguments_of(node.a);
  const Scope scope = {arguments, scope_};
  const auto* outer_scope = scope_;
  const auto outer_pack = std::exchange(pack_index_, kNoPack);
  const auto outer_lambda = std::exchange(lambda_depth_, 0);
  scope_ = arguments == kNone ? scope_ : &scope;
  const bool returns = has_return_type && !is_short() && type.a != kNone;
  if (returns) {
    left(type.a);
    put(" ");
  }
  print(node.a);
  if (!is_short()) {
    print_parameters(type.b);
    print_qualifiers(node.flags);
    returns ? right(type.a) : void();
  }
  scope_ = outer_scope;
  pack_index_ = outer_pack;
  lambda_depth_ = outer_lambda;
}

}  // namespace lumbre::itanium
