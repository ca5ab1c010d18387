#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre::itanium {

std::optional<std::string> Printer::run() {
  print(tree_.root);
  return failed_ || out_.size() == 0 ? std::nullopt : std::optional(out_.take());
}

template <typename Action>
void Printer::at_place(const Place& place, const Action& action) {
  const Place before = here(kNone);
  scope_ = place.scope;
  pack_index_ = place.pack_index;
  action(place.id);
  scope_ = before.scope;
  pack_index_ = before.pack_index;
}

// Follows template parameters to what they stand for.
Printer::Place Printer::resolve(Place place) {
  while (at(place.id).kind == Kind::kTemplateParam && lambda_depth_ == 0) {
    const auto arguments = tree_.list(place.scope == nullptr ? kNone : place.scope->arguments);
    const auto number = at(place.id).number;
    if (number >= arguments.size()) {
      failed_ = true;
      return {kNone, nullptr, kNoPack};
    }
    NodeId argument = arguments[number];
    if (at(argument).kind == Kind::kPack && place.pack_index != kNoPack) {
      const auto items = tree_.list(at(argument).a);
      argument = place.pack_index < items.size() ? items[place.pack_index] : kNone;
    }
    place = {argument, place.scope->outer, kNoPack};
  }
  return place;
}

Printer::Shape Printer::find_shape(NodeId id) {
  Place place = resolve(here(id));
  while (at(place.id).kind == Kind::kQualified || at(place.id).kind == Kind::kThrows) {
    place.id = at(place.id).a;
    place = resolve(place);
  }
  const Kind kind = at(place.id).kind;
  return kind == Kind::kFunctionType ? Shape::kFunction
         : kind == Kind::kArray      ? Shape::kArray
                                     : Shape::kOther;
}

// A reference to a reference is one reference, to an rvalue only when both are.
Printer::Place Printer::referred_to(const Node& node, bool& is_left) {
  is_left = node.kind == Kind::kLeftReference;
  Place place = resolve(here(node.a));
  for (Kind kind = at(place.id).kind; kind == Kind::kLeftReference || kind == Kind::kRightReference;
       kind = at(place.id).kind) {
    is_left = is_left || kind == Kind::kLeftReference;
    place.id = at(place.id).a;
    place = resolve(place);
  }
  return place;
}

void Printer::open_declarator(Shape shape) {
  put(shape == Shape::kFunction ? "(" : shape == Shape::kArray ? " (" : "");
}

void Printer::left(NodeId id) {
  const Step step(*this);
  const Node& node = at(id);
  if (!has_room()) {
    return;
  }
  if (is_name(node.kind)) {
    print_name(node);
  } else if (is_type(node.kind)) {
    left_of_type(node);
  } else if (is_encoding(node.kind)) {
    print_encoding(node);
  } else {
    print_expression(node);
  }
}

void Printer::left_of_type(const Node& node) {
  switch (node.kind) {
    case Kind::kBuiltin:
      put(node.text);
      return;
    case Kind::kQualified:
      left(node.a);
      if (shape_of(node.a) != Shape::kFunction) {
        const Node& inner = at(resolve(here(node.a)).id);
        const unsigned already = inner.kind == Kind::kQualified ? inner.flags : 0U;
        print_qualifiers(node.flags & ~already);
      }
      return;
    case Kind::kPointer:
      left(node.a);
      open_declarator(shape_of(node.a));
      put("*");
      return;
    case Kind::kLeftReference:
    case Kind::kRightReference: {
      bool is_left = false;
      at_place(referred_to(node, is_left), [&](NodeId inner) {
        left(inner);
        open_declarator(shape_of(inner));
      });
      put(is_left ? "&" : "&&");
      return;
    }
    case Kind::kMemberPointer: {
      left(node.b);
      const Shape shape = shape_of(node.b);
      open_declarator(shape);
      put(shape == Shape::kOther ? " " : "");
      print(node.a);
      put("::*");
      return;
    }
    default:
      left_of_other_type(node);
  }
}

void Printer::left_of_other_type(const Node& node) {
  switch (node.kind) {
    case Kind::kFunctionType:
      if (node.a != kNone) {
        left(node.a);
        const bool is_declarator =
            at(node.a).kind == Kind::kPointer && shape_of(at(node.a).a) != Shape::kOther;
        put(is_declarator ? "" : " ");
      }
      return;
    case Kind::kThrows:
    case Kind::kArray:
      left(node.a);
      return;
    case Kind::kSuffixed:
      print(node.a);
      put(at(node.a).text == "_Float" ? "" : " ");
      put(node.text);
      if (node.b != kNone) {
        put("<");
        print_list(tree_.list(node.b));
        put(">");
      }
      return;
    case Kind::kVector:
      print(node.a);
      put(" __vector(");
      node.b == kNone ? put(node.text) : print(node.b);
      put(")");
      return;
    case Kind::kTemplateParam:
      if (lambda_depth_ > 0) {
        print_numbered("auto:", node.number + 1, "");
      } else if (const Place place = resolve(here(static_cast<NodeId>(&node - &at(0)))); !failed_) {
        at_place(place, [&](NodeId argument) { left(argument); });
      }
      return;
    case Kind::kPack:
      print_list(tree_.list(node.a));
      return;
    case Kind::kExpansion:
      print_expansion(node);
      return;
    case Kind::kDecltype:
      put("decltype (");
      print(node.a);
      put(")");
      return;
    default:
      return;
  }
}

void Printer::right(NodeId id) {
  const Step step(*this);
  const Node& node = at(id);
  if (!has_room()) {
    return;
  }
  switch (node.kind) {
    case Kind::kQualified:
      right(node.a);
      // A function that a template parameter stands for cannot be const.
      if (shape_of(node.a) == Shape::kFunction && at(node.a).kind != Kind::kTemplateParam) {
        print_qualifiers(node.flags);
      }
      return;
    case Kind::kPointer:
      put(shape_of(node.a) == Shape::kOther ? "" : ")");
      right(node.a);
      return;
    case Kind::kMemberPointer:
      put(shape_of(node.b) == Shape::kOther ? "" : ")");
      right(node.b);
      return;
    case Kind::kLeftReference:
    case Kind::kRightReference: {
      bool is_left = false;
      at_place(referred_to(node, is_left), [&](NodeId inner) {
        put(shape_of(inner) == Shape::kOther ? "" : ")");
        right(inner);
      });
      return;
    }
    case Kind::kFunctionType:
      print_parameters(node.b);
      print_qualifiers(node.flags);
      if (node.a != kNone) {
        right(node.a);
      }
      return;
    case Kind::kThrows:
      right(node.a);
      print_throws(node);
      return;
    case Kind::kArray:
      put(" [");
      node.b == kNone ? put(node.text) : print(node.b);
      put("]");
      right(node.a);
      return;
    case Kind::kTemplateParam:
      if (lambda_depth_ == 0) {
        at_place(resolve(here(id)), [&](NodeId argument) { right(argument); });
      }
      return;
    default:
      return;
  }
}

void Printer::print_throws(const Node& node) {
  put(" ");
  put(node.text);
  if (node.b != kNone) {
    put("(");
    at(node.b).kind == Kind::kList ? print_list(tree_.list(node.b)) : print(node.b);
    put(")");
  }
}

void Printer::print_qualifiers(unsigned flags) {
  put((flags & kRestrict) != 0 ? " restrict" : "");
  put((flags & kVolatile) != 0 ? " volatile" : "");
  put((flags & kConst) != 0 ? " const" : "");
  put((flags & kLeftReferenceQualifier) != 0 ? " &" : "");
  put((flags & kRightReferenceQualifier) != 0 ? " &&" : "");
}

// Items separated by commas; what stands for nothing, as an empty pack does, has none.
void Printer::print_list(std::span<const NodeId> items) {
  const auto start = out_.size();
  for (const NodeId item : items) {
    const auto before = out_.size();
    put(before == start ? "" : ", ");
    const auto content = out_.size();
    print(item);
    if (!has_room()) {
      return;
    }
    if (out_.size() == content) {
      out_.cut(before);
    }
  }
}

void Printer::print_parameters(NodeId list) {
  const auto items = tree_.list(list);
  put("(");
  const bool has_none = items.size() == 1 && at(items[0]).kind == Kind::kBuiltin &&
                        at(items[0]).text == std::string_view("void");
  if (!has_none) {
    print_list(items);
  }
  put(")");
}

// The length of the pack that the pattern holds.
std::optional<std::size_t> Printer::pack_length(NodeId pattern) {
  const Step step(*this);
  const Node& node = at(pattern);
  if (failed_ || pattern == kNone) {
    return std::nullopt;
  }
  if (node.kind == Kind::kTemplateParam) {
    const auto arguments = tree_.list(scope_ == nullptr ? kNone : scope_->arguments);
    const NodeId argument = node.number < arguments.size() ? arguments[node.number] : kNone;
    return at(argument).kind == Kind::kPack ? std::optional(tree_.list(at(argument).a).size())
                                            : std::nullopt;
  }
  if (node.kind == Kind::kList) {
    for (const NodeId item : tree_.list(pattern)) {
      if (const auto length = pack_length(item); length.has_value()) {
        return length;
      }
    }
    return std::nullopt;
  }
  if (node.kind == Kind::kLambda) {
    return std::nullopt;
  }
  const auto length = pack_length(node.a);
  return length.has_value() ? length : pack_length(node.b);
}

void Printer::print_expansion(const Node& node) {
  const auto length = lambda_depth_ > 0 ? std::nullopt : pack_length(node.a);
  if (!length.has_value()) {
    lambda_depth_ > 0 ? print(node.a) : print_operand(node.a);
    put("...");
    return;
  }
  const auto outer = pack_index_;
  for (std::size_t i = 0; i < *length && has_room(); ++i) {
    put(i == 0 ? "" : ", ");
    pack_index_ = i;
    print(node.a);
  }
  pack_index_ = outer;
}

}  // namespace lumbre::itanium
