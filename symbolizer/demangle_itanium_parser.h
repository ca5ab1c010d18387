// Recursive descent over a mangled C++ name (Itanium C++ ABI, section 5.1), into a Tree. Nesting is
// bounded; time and memory grow with the length of the text. Internal to the demangler. One thread.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/demangle_itanium_tree.h"

namespace lumbre::itanium {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Nothing when the text, which starts with "_Z", does not follow the grammar.
  std::optional<Tree> run();

 private:
  static constexpr int kMaxDepth = 400;

  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      parser_.failed_ = ++parser_.depth_ > kMaxDepth || parser_.failed_;
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  char peek(std::size_t ahead = 0) const {
    return failed_ || at_ + ahead >= text_.size() ? '\0' : text_[at_ + ahead];
  }
  void advance(std::size_t count) {
    failed_ = failed_ || count > text_.size() - at_;
    at_ = failed_ ? text_.size() : at_ + count;
  }
  bool take(std::string_view wanted) {
    if (failed_ || text_.substr(at_, wanted.size()) != wanted) {
      return false;
    }
    at_ += wanted.size();
    return true;
  }
  void expect(std::string_view wanted) { failed_ = !take(wanted) || failed_; }
  NodeId fail() {
    failed_ = true;
    return kNone;
  }

  NodeId add(Node node) { return tree_.add(node); }
  NodeId add_text(Kind kind, std::string_view text) { return add({.kind = kind, .text = text}); }
  NodeId keep(NodeId node) {  // a new substitution
    substitutions_.push_back(node);
    return node;
  }
  const Node& at(NodeId id) const { return tree_.nodes[id]; }

  // A list of what `item` reads until `end`.
  template <typename Item>
  NodeId list(std::string_view end, const Item& item) {
    const auto base = scratch_.size();
    while (!failed_ && !take(end)) {
      const NodeId node = item();
      scratch_.push_back(node);
    }
    return make_list(base);
  }
  NodeId make_list(std::size_t scratch_base);

  // demangle_itanium_names.cc
  bool is_at_end_of_encoding() const;
  NodeId encoding();
  NodeId signature(bool returns);
  bool has_return_type(NodeId name) const;
  NodeId special_name();
  NodeId reference_temporary();
  NodeId construction_vtable();
  void call_offset();
  NodeId clone_suffixes(NodeId node);
  NodeId name();
  NodeId nested_name();
  NodeId prefix_part(NodeId prefix, bool& is_kept);
  NodeId local_name();
  void discriminator();
  NodeId unqualified_name();
  NodeId untagged_name();
  NodeId constructor_or_destructor();
  NodeId lambda();
  void template_parameter_declarations();
  std::string_view source_text();
  NodeId source_name();
  NodeId operator_name();
  NodeId substitution();
  NodeId standard_substitution();
  NodeId with_tags(NodeId name);
  NodeId nested(NodeId a, NodeId b) { return add({.kind = Kind::kNested, .a = a, .b = b}); }

  // demangle_itanium_types.cc
  std::optional<std::uint32_t> sequence_number();  // "_" is 0, "0_" 1; base 36
  std::optional<std::uint32_t> number();
  std::uint32_t ordinal();  // "_" is 1, "0_" 2; decimal
  std::uint8_t qualifiers();
  std::string_view digits();
  NodeId type();
  NodeId wrapped_type(Kind kind);
  NodeId function_type();
  NodeId array_type();
  NodeId member_pointer();
  NodeId substitution_type();
  NodeId parameter_type();
  NodeId extended_type();
  NodeId vector_type();
  NodeId throwing_type(char kind);
  NodeId vendor_qualified();
  NodeId template_parameter();
  NodeId template_arguments();
  NodeId template_argument();
  NodeId with_arguments(NodeId name);

  // demangle_itanium_expressions.cc
  NodeId literal();
  NodeId decltype_type();
  NodeId expression();
  NodeId operation(std::string_view code);
  NodeId plain_operation(std::string_view code);
  NodeId function_parameter();
  NodeId conversion();
  NodeId new_expression(std::string_view text);
  NodeId fold(std::string_view code);
  NodeId unresolved_name();
  NodeId unresolved_destructor();
  NodeId scoped_name();
  NodeId scope_of_names(NodeId scope);

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  bool is_conversion_ = false;   // within the type of a conversion operator
  std::uint8_t qualifiers_ = 0;  // of the last name
  int depth_ = 0;
  int retries_ = 0;
  std::string_view last_source_name_;  // which constructors repeat
  std::vector<NodeId> substitutions_;
  std::vector<NodeId> scratch_;
  Tree tree_;
};

// The operator that two letters stand for, with the space that it needs before an operand.
struct Operator {
  char code[3];
  std::string_view text;
  int operands;  // in an expression; 0: of its own grammar
};
const Operator* find_operator(std::string_view code);

}  // namespace lumbre::itanium
