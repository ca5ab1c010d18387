// The parse behind is_safe_to_demangle(): a recursive descent over the Itanium C++ mangling that
// returns the length of each part instead of its text. Internal to the demangler. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace lumbre {

class CostParser {
 public:
  explicit CostParser(std::string_view text) : text_(text) {}

  // 0 when the text does not follow the grammar as it is known here.
  std::uint64_t run();

 private:
  using Length = std::uint64_t;
  static constexpr Length kMaxLength = Length{1} << 40;  // lengths stop growing here
  static constexpr int kMaxDepth = 300;

  class Nesting {
   public:
    explicit Nesting(CostParser& parser) : parser_(parser) {
      parser_.failed_ = ++parser_.depth_ > kMaxDepth || parser_.failed_;
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    CostParser& parser_;
  };

  char peek(std::size_t ahead = 0) const {
    return failed_ || at_ + ahead >= text_.size() ? '\0' : text_[at_ + ahead];
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  void advance(std::size_t count) {
    failed_ = failed_ || count > text_.size() - at_;
    at_ = failed_ ? text_.size() : at_ + count;
  }
  bool take(std::string_view wanted) {
    if (failed_ || text_.substr(at_, wanted.size()) != wanted) {
      return false;
    }
    advance(wanted.size());
    return true;
  }
  void expect(std::string_view wanted) { failed_ = !take(wanted) || failed_; }
  Length fail() {
    failed_ = true;
    return 0;
  }
  static Length sum(Length a, Length b) { return std::min(a + b, kMaxLength); }
  Length keep(Length length) {  // a new substitution
    substitutions_.push_back(length);
    return length;
  }
  void skip_digits() {
    while (is_digit(peek())) {
      advance(1);
    }
  }
  void skip_number_and_underscore() {
    take("n");
    skip_digits();
    expect("_");
  }

  // Items until `end`.
  template <typename Item>
  Length list(std::string_view end, const Item& item) {
    Length length = 0;
    while (!failed_ && !take(end)) {
      length = sum(length, item() + 2);
    }
    return length;
  }

  // demangle_cost_names.cc
  bool is_at_end_of_encoding() const;
  Length encoding();
  Length special_name();
  void call_offset();
  Length name(bool is_of_encoding);
  Length nested_name(bool is_of_encoding);
  Length local_name();
  void discriminator();
  Length unqualified_name();
  Length source_name();
  Length operator_name();
  std::size_t substitution_index();
  Length substitution();
  Length template_parameter();
  Length arguments(bool is_of_encoding);
  Length type();
  Length function_type();
  Length array_type();
  Length substitution_type();
  Length parameter_type();
  Length extended_type();
  Length vendor_type();

  // demangle_cost_expressions.cc
  Length template_argument();
  Length literal();
  Length decltype_type();
  Length expression();
  Length operation(std::string_view code);
  Length function_parameter();
  Length new_expression();
  Length with_arguments(Length length);
  Length qualifying_names();
  Length unresolved_name();
  Length unresolved_destructor();
  Length scoped_name();

  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
  int depth_ = 0;
  Length longest_argument_ = 0;   // of the template arguments that T_ stands for
  Length last_source_name_ = 21;  // which constructors repeat
  int retries_ = 0;
  std::vector<Length> substitutions_;
};

}  // namespace lumbre
