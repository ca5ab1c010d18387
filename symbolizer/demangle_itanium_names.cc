// Encodings and names: sections 5.1.2 to 5.1.4 of the Itanium C++ ABI.
#include <algorithm>

#include "symbolizer/demangle_itanium_parser.h"

namespace lumbre::itanium {

std::optional<Tree> Parser::run() {
  expect("_Z");
  tree_.nodes.resize(text_.size() + 8);
  tree_.items.reserve(text_.size() / 2);
  substitutions_.reserve(32);
  scratch_.reserve(32);
  NodeId root = encoding();
  if (peek() == '.' && root != kNone) {
    root = clone_suffixes(root);
  }
  if (failed_ || at_ != text_.size()) {
    return std::nullopt;
  }
  tree_.root = root;
  return std::move(tree_);
}

NodeId Parser::make_list(std::size_t scratch_base) {
  const auto first = static_cast<std::uint32_t>(tree_.items.size());
  const auto begin = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_base);
  const auto count = static_cast<NodeId>(scratch_.end() - begin);
  tree_.items.insert(tree_.items.end(), begin, scratch_.end());
  scratch_.resize(scratch_base);
  return add({.kind = Kind::kList, .number = first, .a = count});
}

bool Parser::is_at_end_of_encoding() const {
  const char c = peek();
  return c == '\0' || c == 'E' || c == '.';
}

NodeId Parser::encoding() {
  const Nesting nesting(*this);
  if (peek() == 'T' || (peek() == 'G' && !is_digit(peek(1)))) {
    return special_name();
  }
  const NodeId function = name();
  const std::uint8_t flags = qualifiers_;
  if (failed_ || is_at_end_of_encoding()) {
    return function;
  }
  const NodeId type = signature(has_return_type(function));
  return add({.kind = Kind::kFunction, .flags = flags, .a = function, .b = type});
}

NodeId Parser::signature(bool returns) {
  const NodeId returned = returns ? type() : kNone;
  const auto base = scratch_.size();
  while (!failed_ && !is_at_end_of_encoding() && peek() != 'Q') {
    const NodeId parameter = type();
    scratch_.push_back(parameter);
  }
  const NodeId parameters = make_list(base);
  if (take("Q")) {
    expression();  // a constraint: not shown
  }
  return add({.kind = Kind::kFunctionType, .a = returned, .b = parameters});
}

bool Parser::has_return_type(NodeId name) const {
  while (at(name).kind == Kind::kLocal || at(name).kind == Kind::kDefaultArgument) {
    name = at(name).kind == Kind::kLocal ? at(name).b : at(name).a;
  }
  if (at(name).kind != Kind::kTemplate) {
    return false;
  }
  name = at(name).a;
  while (at(name).kind == Kind::kNested || at(name).kind == Kind::kTagged) {
    name = at(name).kind == Kind::kNested ? at(name).b : at(name).a;
  }
  const Kind kind = at(name).kind;
  return kind != Kind::kConstructor && kind != Kind::kDestructor && kind != Kind::kConversion;
}

NodeId Parser::special_name() {
  struct Phrase {
    std::string_view code, text;
    char content;  // t: type, n: name, e: encoding; with call offsets before: 1, 2
  };
  static constexpr Phrase kPhrases[] = {
      {"TV", "vtable for ", 't'},
      {"TT", "VTT for ", 't'},
      {"TI", "typeinfo for ", 't'},
      {"TS", "typeinfo name for ", 't'},
      {"TF", "typeinfo fn for ", 't'},
      {"TA", "template parameter object for ", 'a'},
      {"TH", "TLS init function for ", 'n'},
      {"TW", "TLS wrapper function for ", 'n'},
      {"GV", "guard variable for ", 'n'},
      {"GA", "hidden alias for ", 'e'},
      {"GTt", "transaction clone for ", 'e'},
      {"GTn", "non-transaction clone for ", 'e'},
      {"Tc", "covariant return thunk to ", '2'},
      {"Th", "non-virtual thunk to ", '1'},
      {"Tv", "virtual thunk to ", '1'},
  };
  if (take("GR")) {
    return reference_temporary();
  }
  if (take("TC")) {
    return construction_vtable();
  }
  for (const Phrase& phrase : kPhrases) {
    if (!take(phrase.code)) {
      continue;
    }
    if (phrase.content == '1' || phrase.content == '2') {
      at_ -= phrase.content == '1' ? 1 : 0;
      call_offset();
      phrase.content == '2' ? call_offset() : void();
    }
    const NodeId content = phrase.content == 't'   ? type()
                           : phrase.content == 'n' ? name()
                           : phrase.content == 'a' ? template_argument()
                                                   : encoding();
    return add({.kind = Kind::kSpecial, .a = content, .text = phrase.text});
  }
  return fail();
}

NodeId Parser::reference_temporary() {
  const NodeId object = name();
  const auto index = sequence_number();
  failed_ = failed_ || (!index.has_value() && at_ != text_.size());
  return add({.kind = Kind::kReference, .number = index.value_or(0), .a = object});
}

NodeId Parser::construction_vtable() {
  const NodeId derived = type();
  digits();
  expect("_");
  const NodeId base = type();
  return add({.kind = Kind::kConstruction, .a = base, .b = derived});
}

void Parser::call_offset() {
  const bool is_virtual = take("v");
  if (!is_virtual) {
    expect("h");
  }
  for (int i = 0; i < (is_virtual ? 2 : 1); ++i) {
    take("n");
    digits();
    expect("_");
  }
}

// ".isra.0.cold": each a word with the numbers behind it. Data has none that is known.
NodeId Parser::clone_suffixes(NodeId node) {
  const Kind kind = at(node).kind;
  if (kind != Kind::kFunction && kind != Kind::kSpecial) {
    return fail();
  }
  while (peek() == '.') {
    const auto start = at_;
    advance(1);
    while (is_lower(peek()) || peek() == '_') {
      advance(1);
    }
    while (peek() == '.' && is_digit(peek(1))) {
      advance(1);
      digits();
    }
    if (at_ == start + 1) {
      digits();
    }
    failed_ = failed_ || at_ == start + 1;
    node = add({.kind = Kind::kClone, .a = node, .text = text_.substr(start, at_ - start)});
  }
  return node;
}

NodeId Parser::name() {
  const Nesting nesting(*this);
  if (peek() == 'N') {
    return nested_name();
  }
  if (peek() == 'Z') {
    return local_name();
  }
  NodeId result = kNone;
  if (peek() == 'S' && peek(1) != 't') {
    result = substitution();
  } else {
    const bool is_std = take("St");
    result = unqualified_name();
    result = is_std ? nested(add_text(Kind::kStandard, "std"), result) : result;
    if (peek() == 'I') {
      keep(result);
    }
  }
  result = with_arguments(result);
  qualifiers_ = 0;
  return result;
}

NodeId Parser::nested_name() {
  expect("N");
  take("H");  // an explicit object parameter
  std::uint8_t flags = qualifiers();
  if (take("R")) {
    flags |= kLeftReferenceQualifier;
  } else if (take("O")) {
    flags |= kRightReferenceQualifier;
  }
  NodeId prefix = kNone;
  while (!failed_ && !take("E")) {
    bool is_kept = true;
    prefix = prefix_part(prefix, is_kept);
    if (is_kept && peek() != 'E') {
      keep(prefix);
    }
  }
  qualifiers_ = flags;
  return prefix == kNone ? fail() : prefix;
}

NodeId Parser::prefix_part(NodeId prefix, bool& is_kept) {
  const char c = peek();
  if (prefix == kNone && c == 'S') {
    is_kept = false;
    return take("St") ? add_text(Kind::kStandard, "std") : substitution();
  }
  if (prefix == kNone && c == 'T') {
    return template_parameter();
  }
  if (prefix == kNone && c == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
    return decltype_type();
  }
  if (prefix != kNone && c == 'I') {
    return add({.kind = Kind::kTemplate, .a = prefix, .b = template_arguments()});
  }
  if (prefix != kNone && take("M")) {  // the member whose initializer holds a lambda
    is_kept = false;
    return prefix;
  }
  const NodeId part = unqualified_name();
  return prefix == kNone ? part : nested(prefix, part);
}

NodeId Parser::local_name() {
  expect("Z");
  const NodeId function = encoding();
  expect("E");
  NodeId entity = kNone;
  if (take("s")) {
    entity = add_text(Kind::kName, "string literal");
    discriminator();
  } else if (take("d")) {
    const auto argument = ordinal();
    entity = name();
    entity = add({.kind = Kind::kDefaultArgument, .number = argument, .a = entity});
  } else {
    entity = name();
    discriminator();
  }
  return add({.kind = Kind::kLocal, .a = function, .b = entity});
}

void Parser::discriminator() {
  if (take("__")) {
    digits();
    expect("_");
  } else if (peek() == '_' && is_digit(peek(1))) {
    advance(1);
    digits();
  }
}

NodeId Parser::unqualified_name() {
  const Nesting nesting(*this);
  while (take("L") || take("F")) {
  }
  return with_tags(untagged_name());
}

NodeId Parser::with_tags(NodeId name) {
  while (take("B")) {
    const auto last = last_source_name_;
    name = add({.kind = Kind::kTagged, .a = name, .text = source_text()});
    last_source_name_ = last;
  }
  return name;
}

NodeId Parser::untagged_name() {
  const char c = peek();
  if (is_digit(c)) {
    return source_name();
  }
  if (take("Ul")) {
    return lambda();
  }
  if (take("Ut")) {
    return add({.kind = Kind::kUnnamed, .number = ordinal()});
  }
  if (take("DC")) {
    return add({.kind = Kind::kBinding, .a = list("E", [this] { return source_name(); })});
  }
  if (c == 'C' || c == 'D') {
    return constructor_or_destructor();
  }
  return operator_name();
}

NodeId Parser::constructor_or_destructor() {
  const bool is_constructor = take("C");
  if (!is_constructor) {
    expect("D");
  }
  const bool is_inherited = is_constructor && take("I");
  failed_ = failed_ || !is_digit(peek()) || last_source_name_.empty();
  advance(1);
  const auto name = last_source_name_;
  if (is_inherited) {
    type();
  }
  return add_text(is_constructor ? Kind::kConstructor : Kind::kDestructor, name);
}

NodeId Parser::lambda() {
  template_parameter_declarations();
  const NodeId parameters = list("E", [this] { return type(); });
  return add({.kind = Kind::kLambda, .number = ordinal(), .a = parameters});
}

void Parser::template_parameter_declarations() {
  const Nesting nesting(*this);
  while (!failed_) {
    if (take("Ty") || take("Tp")) {
      continue;
    }
    if (take("Tn")) {
      type();
    } else if (take("Tt")) {
      template_parameter_declarations();
      expect("E");
    } else {
      return;
    }
  }
}

std::string_view Parser::source_text() {
  const auto length = number();
  if (!length.has_value() || *length == 0 || *length > text_.size() - at_) {
    fail();
    return {};
  }
  const auto text = text_.substr(at_, *length);
  advance(*length);
  const bool is_anonymous = text.substr(0, 8) == "_GLOBAL_" && text.size() > 9 && text[9] == 'N' &&
                            (text[8] == '_' || text[8] == '.' || text[8] == '$');
  return last_source_name_ = is_anonymous ? "(anonymous namespace)" : text;
}

NodeId Parser::source_name() { return add_text(Kind::kName, source_text()); }

NodeId Parser::operator_name() {
  if (take("cv")) {
    const bool outer = std::exchange(is_conversion_, true);
    const NodeId target = type();
    is_conversion_ = outer;
    return add({.kind = Kind::kConversion, .a = target});
  }
  if (take("li")) {
    return add_text(Kind::kLiteralOperator, source_text());
  }
  if (peek() == 'v' && is_digit(peek(1))) {
    advance(2);
    return add_text(Kind::kOperator, source_text());
  }
  take("on");
  const Operator* known = find_operator(text_.substr(std::min(at_, text_.size()), 2));
  if (failed_ || known == nullptr) {
    return fail();
  }
  advance(2);
  return add_text(Kind::kOperator, known->text);
}

NodeId Parser::substitution() {
  if (is_lower(peek(1))) {
    return standard_substitution();
  }
  expect("S");
  const auto index = sequence_number();
  return index.has_value() && *index < substitutions_.size() ? substitutions_[*index] : fail();
}

NodeId Parser::standard_substitution() {
  struct Entry {
    char code;
    std::string_view text, whole, last;
  };
  static constexpr Entry kEntries[] = {
      {'t', "std", "std", ""},
      {'a', "std::allocator", "std::allocator", "allocator"},
      {'b', "std::basic_string", "std::basic_string", "basic_string"},
      {'s', "std::string", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
       "basic_string"},
      {'i', "std::istream", "std::basic_istream<char, std::char_traits<char> >", "basic_istream"},
      {'o', "std::ostream", "std::basic_ostream<char, std::char_traits<char> >", "basic_ostream"},
      {'d', "std::iostream", "std::basic_iostream<char, std::char_traits<char> >",
       "basic_iostream"},
  };
  for (const Entry& entry : kEntries) {
    if (entry.code != peek(1)) {
      continue;
    }
    advance(2);
    last_source_name_ = entry.last;
    // A constructor has the name of the class, which the abbreviation hides.
    const bool is_whole = peek() == 'C' || peek() == 'D';
    const NodeId name = add_text(Kind::kStandard, is_whole ? entry.whole : entry.text);
    const NodeId tagged = with_tags(name);
    return tagged == name ? name : keep(tagged);
  }
  return fail();
}

}  // namespace lumbre::itanium
