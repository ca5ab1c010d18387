// Writes a Tree out: whole, as the C++ runtime's demangler words it, or short for display, where
// parameters and return types are left out and template arguments become a hint, if anything.
// Output and work are bounded, for shared nodes can stand for exponentially long texts. Internal
// to the demangler. One thread.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbolizer/demangle_itanium_tree.h"

namespace lumbre::itanium {

enum class Style : std::uint8_t {
  kWhole,
  kShort,     // template arguments as hints, parameters of lambdas where they are few
  kShortest,  // hints only where they name a function, no parameters
};

// A string that grows cheaply by small pieces.
class TextBuffer {
 public:
  explicit TextBuffer(std::size_t capacity) : text_(capacity, '\0') {}
  void append(std::string_view piece) {
    if (piece.size() > text_.size() - size_) {
      text_.resize(2 * text_.size() + piece.size());
    }
    std::copy(piece.begin(), piece.end(), text_.data() + size_);
    size_ += piece.size();
  }
  std::size_t size() const { return size_; }
  char back() const { return text_[size_ - 1]; }
  void cut(std::size_t size) { size_ = size; }
  std::string take() {
    text_.resize(size_);
    return std::move(text_);
  }

 private:
  std::string text_;
  std::size_t size_ = 0;
};

class Printer {
 public:
  Printer(const Tree& tree, Style style) : tree_(tree), style_(style), out_(kInitialSize) {}

  // Nothing when the text would be too long, or a template parameter stands for nothing.
  std::optional<std::string> run();

 private:
  // The arguments that template parameters stand for; those hold parameters of the outer scope.
  struct Scope {
    NodeId arguments;
    const Scope* outer;
  };
  static constexpr std::size_t kInitialSize = 512;
  static constexpr int kMaxDepth = 1000;
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 20;
  static constexpr std::size_t kMaxSize = std::size_t{1} << 18;
  static constexpr std::size_t kNoPack = ~std::size_t{0};
  struct Place {
    NodeId id;
    const Scope* scope;
    std::size_t pack_index;
  };
  enum class Shape : std::uint8_t { kOther, kFunction, kArray };

  class Step {
   public:
    explicit Step(Printer& printer) : printer_(printer) {
      printer_.failed_ = ++printer_.depth_ > kMaxDepth || ++printer_.steps_ > kMaxSteps ||
                         printer_.out_.size() > kMaxSize || printer_.failed_;
    }
    ~Step() { --printer_.depth_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Printer& printer_;
  };

  const Node& at(NodeId id) const { return tree_.nodes[id]; }
  bool is_short() const { return style_ != Style::kWhole; }
  bool has_room() const { return !failed_ && out_.size() < max_size_; }
  void put(std::string_view text) { out_.append(text); }
  bool ends_with(char c) const { return out_.size() > 0 && out_.back() == c; }
  void print(NodeId id) {
    left(id);
    if (is_type(at(id).kind)) {
      right(id);
    }
  }
  void print_list(std::span<const NodeId> items);
  void print_parameters(NodeId list);
  template <typename Action>
  void at_place(const Place& place, const Action& action);

  // demangle_itanium_print_names.cc
  void print_name(const Node& node);
  void print_encoding(const Node& node);
  void print_local(const Node& node);
  void print_template(const Node& node);
  void print_lambda(const Node& node);
  void print_function(const Node& node, bool has_return_type);
  void print_numbered(std::string_view before, std::uint32_t number, std::string_view after);
  NodeId arguments_of(NodeId name) const;

  // demangle_itanium_print_hints.cc
  void print_hint(NodeId list);
  std::string function_hint(NodeId id);
  std::string hint_of_name(NodeId name);
  std::string first_hint(std::span<const NodeId> items);
  std::string last_part(NodeId name) const;
  void print_short_arguments(std::span<const NodeId> items);
  bool print_arguments_that_fit(std::span<const NodeId> items);
  bool is_default_argument(NodeId id) const;

  // demangle_itanium_print_types.cc: C++ declarators have a part on each side of a name.
  void left(NodeId id);
  void right(NodeId id);
  void left_of_type(const Node& node);
  void left_of_other_type(const Node& node);
  void print_qualifiers(unsigned flags);
  Place resolve(Place place);
  Place here(NodeId id) const { return {id, scope_, pack_index_}; }
  Shape shape_of(NodeId id) {
    const Kind kind = at(id).kind;
    const bool is_plain = kind <= Kind::kBuiltin || kind == Kind::kPointer;
    return is_plain ? Shape::kOther : find_shape(id);
  }
  Shape find_shape(NodeId id);
  Place referred_to(const Node& node, bool& is_left);
  void open_declarator(Shape shape);
  void print_throws(const Node& node);
  void print_expansion(const Node& node);
  std::optional<std::size_t> pack_length(NodeId pattern);

  // demangle_itanium_print_expressions.cc
  void print_expression(const Node& node);
  void print_other_expression(const Node& node);
  void print_operand(NodeId id);
  void print_literal(const Node& node);
  void print_binary(const Node& node);
  void print_call(const Node& node);
  void print_new(const Node& node);
  void print_fold(const Node& node);

  const Tree& tree_;
  Style style_;
  TextBuffer out_;
  std::size_t max_size_ = kMaxSize;
  std::size_t steps_ = 0;
  bool failed_ = false;
  bool has_scopes_ = true;  // of names
  int depth_ = 0;
  int lambda_depth_ = 0;  // within its parameters, where template parameters are "auto"
  const Scope* scope_ = nullptr;
  std::size_t pack_index_ = kNoPack;
  std::vector<std::string> hints_;  // that have been given
};

}  // namespace lumbre::itanium
