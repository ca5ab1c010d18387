// What is shown of template arguments in a short name. Frames of generic code tell nothing apart
// but by the function or lambda that they were made for: its name is the hint. Types are shown
// where they take little room.
#include <algorithm>
#include <utility>

#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre::itanium {
namespace {

constexpr std::size_t kMaxHintSize = 80;
constexpr std::size_t kMaxListSize = 28;

// Names that say nothing without the class that they belong to.
bool is_generic(std::string_view name) {
  constexpr std::string_view kNames[] = {"operator()", "call",    "apply", "invoke", "__invoke",
                                         "_M_invoke",  "_FUN",    "run",   "Run",    "Invoke",
                                         "execute",    "do_call", "fn"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace

void Printer::print_hint(NodeId list) {
  const auto items = tree_.list(list);
  const std::string hint = first_hint(items);
  if (hint.empty() && style_ != Style::kShortest) {
    print_short_arguments(items);
  }
  if (hint.empty()) {
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
  if (owner != kNone && (node.kind == Kind::kLambda || node.kind == Kind::kUnnamed)) {
    return last_part(owner);
  }
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

// What the standard library and PyTorch put in lists unasked.
bool Printer::is_default_argument(NodeId id) const {
  const Node& node = at(id);
  if (node.kind == Kind::kLiteral) {
    return last_part(node.a) == "_Lock_policy";
  }
  if (node.kind != Kind::kTemplate) {
    return false;
  }
  constexpr std::string_view kNames[] = {
      "allocator", "char_traits",    "less",           "hash",
      "equal_to",  "default_delete", "std::allocator", "intrusive_target_default_null_type"};
  return std::find(std::begin(kNames), std::end(kNames), last_part(node.a)) != std::end(kNames);
}

void Printer::print_short_arguments(std::span<const NodeId> items) {
  std::vector<NodeId> shown(items.begin(), items.begin() + (items.empty() ? 0 : 1));
  for (const NodeId item : items.subspan(shown.size())) {
    if (!is_default_argument(item)) {
      shown.push_back(item);
    }
  }
  // Without the namespaces where they are what takes the room.
  if (!print_arguments_that_fit(shown)) {
    const bool outer = std::exchange(has_scopes_, false);
    print_arguments_that_fit(shown);
    has_scopes_ = outer;
  }
}

bool Printer::print_arguments_that_fit(std::span<const NodeId> items) {
  const auto start = out_.size();
  const auto outer_limit = max_size_;
  max_size_ = std::min(max_size_, start + kMaxListSize + 1);
  put(ends_with('<') ? " <" : "<");
  const auto content = out_.size();
  print_list(items);
  max_size_ = outer_limit;
  if (out_.size() == content || out_.size() > start + kMaxListSize) {
    out_.cut(start);
    return false;
  }
  put(">");
  return true;
}

}  // namespace lumbre::itanium
