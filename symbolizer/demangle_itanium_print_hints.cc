// What is shown of template arguments in a short name. Frames of generic code tell nothing apart
// but by the function or lambda that they were made for: its name is the hint. Types are shown
// where they take little room.
#include <algorithm>
#include <utility>

#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre::itanium {
namespace {

constexpr std::size_t kMaxHintSize = 40;
constexpr std::size_t kMaxListSize = 24;

// Names that say nothing without the class that they belong to.
bool is_generic(std::string_view name) {
  constexpr std::string_view kNames[] = {"operator()", "call",      "apply",   "invoke",
                                         "__invoke",   "_M_invoke", "_FUN",    "run",
                                         "Run",        "Invoke",    "execute", "do_call"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

void Printer::print_hint(NodeId list) {
  if (style_ == Style::kShortest) {
    return;
  }
  const auto items = tree_.list(list);
  const std::string hint = first_hint(items);
  if (hint.empty()) {
    print_short_arguments(items);
    return;
  }
  // Once is enough: what is nested in generic code repeats it at each level.
  if (std::find(hints_.begin(), hints_.end(), hint) == hints_.end()) {
    hints_.push_back(hint);
    put(ends_with('<') ? " <" : "<");
    put(hint);
    put(">");
  }
}

std::string Printer::first_hint(std::span<const NodeId> items) {
  for (const NodeId item : items) {
    if (std::string hint = function_hint(item); !hint.empty()) {
      return hint;
    }
  }
  return {};
}

// The innermost function that a template argument is about.
std::string Printer::function_hint(NodeId id) {
  const Step step(*this);
  const Node& node = at(id);
  if (failed_) {
    return {};
  }
  switch (node.kind) {
    case Kind::kFunction:
      return hint_of_name(node.a);
    case Kind::kLocal:
      return at(node.a).kind == Kind::kFunction ? hint_of_name(at(node.a).a) : hint_of_name(node.a);
    case Kind::kTemplate: {
      std::string hint = first_hint(tree_.list(node.b));
      return hint.empty() ? function_hint(node.a) : hint;
    }
    case Kind::kPack:
      return first_hint(tree_.list(node.a));
    case Kind::kNested: {
      std::string hint = function_hint(node.a);
      return hint.empty() ? function_hint(node.b) : hint;
    }
    case Kind::kPointer:
    case Kind::kLeftReference:
    case Kind::kRightReference:
    case Kind::kQualified:
    case Kind::kExpansion:
    case Kind::kPrefix:
    case Kind::kTagged:
      return function_hint(node.a);
    default:
      return {};
  }
}

std::string Printer::hint_of_name(NodeId name) {
  std::string inner = function_hint(name);
  inner = inner.empty() ? last_part(name) : inner;
  inner.resize(std::min(inner.size(), kMaxHintSize));
  return inner;
}

std::string Printer::last_part(NodeId name) const {
  NodeId owner = kNone;
  for (;;) {
    const Node& node = at(name);
    if (node.kind == Kind::kNested || node.kind == Kind::kLocal) {
      owner = node.a;
      name = node.b;
    } else if (node.kind == Kind::kTemplate || node.kind == Kind::kTagged) {
      name = node.a;
    } else {
      break;
    }
  }
  const Node& node = at(name);
  std::string text(node.text);
  if (node.kind == Kind::kDestructor || node.kind == Kind::kOperator) {
    text.insert(0, node.kind == Kind::kOperator ? "operator" : "~");
  }
  if (owner != kNone && is_generic(text)) {
    const std::string of = last_part(owner);
    text = of.empty() ? text : text == "operator()" ? of : of + "::" + text;
  }
  return text;
}

// What the standard library puts in lists unasked.
bool Printer::is_default_argument(NodeId id) const {
  const Node& node = at(id);
  if (node.kind != Kind::kTemplate) {
    return false;
  }
  const Node& name = at(node.a);
  constexpr std::string_view kNames[] = {"allocator", "char_traits", "less",
                                         "hash",      "equal_to",    "default_delete"};
  if (name.kind == Kind::kStandard) {
    return name.text == "std::allocator";
  }
  return name.kind == Kind::kNested && at(name.a).text == "std" &&
         std::find(std::begin(kNames), std::end(kNames), at(name.b).text) != std::end(kNames);
}

void Printer::print_short_arguments(std::span<const NodeId> items) {
  const auto start = out_.size();
  const auto outer_limit = max_size_;
  max_size_ = std::min(max_size_, start + kMaxListSize + 1);
  while (!items.empty() && is_default_argument(items.back())) {
    items = items.first(items.size() - 1);
  }
  put(ends_with('<') ? " <" : "<");
  const auto content = out_.size();
  print_list(items);
  max_size_ = outer_limit;
  if (out_.size() == content || out_.size() > start + kMaxListSize) {
    out_.cut(start);
    return;
  }
  put(">");
}

}  // namespace lumbre::itanium
