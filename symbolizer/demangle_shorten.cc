// shorten_for_display: one pass over a demangled name that copies the parts of its outermost
// qualified name and steps over everything in brackets. Any sign that the text is not a demangled
// name ends the pass, and the text stays as it was.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "symbolizer/demangle.h"

namespace lumbre {
namespace {

bool is_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Shortener {
 public:
  explicit Shortener(std::string_view text) : text_(text) {}

  // Nothing when the text is not what a demangler prints.
  std::optional<std::string> run() {
    while (at_ < text_.size() && !failed_ && !is_done_) {
      step();
    }
    while (!out_.empty() && out_.back() == ' ') {
      out_.pop_back();
    }
    return failed_ || out_.empty() ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool is_next(std::string_view wanted) const { return text_.substr(at_, wanted.size()) == wanted; }
  bool take(std::string_view wanted) {
    if (!is_next(wanted)) {
      return false;
    }
    at_ += wanted.size();
    return true;
  }
  void copy(std::size_t count) {
    out_ += text_.substr(at_, count);
    at_ = std::min(text_.size(), at_ + count);
  }

  // The word "operator" at a position, not as a part of an identifier.
  bool is_operator_word(std::size_t at) const {
    constexpr std::string_view kWord = "operator";
    if (text_.substr(at, kWord.size()) != kWord || (at > 0 && is_identifier(text_[at - 1]))) {
      return false;
    }
    const auto after = text_.substr(at + kWord.size());
    return after.empty() || !is_identifier(after[0]);
  }

  // The length of the symbol after the word "operator"; 0 for a conversion ("operator bool").
  std::size_t operator_symbol_length(std::size_t at) const {
    constexpr std::array<std::string_view, 40> kSymbols = {
        "()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==",  "!=", "&&",
        "||", "++", "--",  "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", ",",   "+",  "-",
        "*",  "/",  "%",   "&",   "|",   "^",   "~",  "!",  "=",  "<",  ">",  "\"\""};
    const auto after = text_.substr(at);
    for (const auto symbol : kSymbols) {
      if (after.substr(0, symbol.size()) != symbol) {
        continue;
      }
      // "operator<<int>" as clang writes it is operator< with template arguments.
      const auto next = after.substr(symbol.size(), 1);
      const bool is_less_template = symbol == "<<" && !next.empty() && is_identifier(next[0]);
      return is_less_template ? 1 : symbol.size();
    }
    return 0;
  }

  // The position behind the bracket that closes the one at `at`; npos when there is none.
  std::size_t skip_brackets(std::size_t at) const {
    std::string open;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (is_operator_word(at)) {
        at += std::string_view("operator").size();
        at += operator_symbol_length(at);
        // Arguments may follow the symbol after a space: "operator< <int>".
        at += text_.substr(at, 2) == " <" ? 1 : 0;
        if (text_.substr(at, 1) == "<") {
          open += '<';
          ++at;
        }
        --at;
        continue;
      }
      if (c == '(' || c == '[' || c == '{' || (c == '<' && (open.empty() || opens_template(at)))) {
        open += c;
      } else if (c == ')' || c == ']' || c == '}') {
        close(c == ')' ? '(' : c == ']' ? '[' : '{', open);
      } else if (c == '>' && !open.empty() && open.back() == '<' && text_[at - 1] != '-') {
        open.pop_back();
      }
      if (open.empty()) {
        return at + 1;
      }
    }
    return std::string_view::npos;
  }

  // An angle bracket behind a name, and not the operator of an expression: "(1)<(2)".
  bool opens_template(std::size_t at) const {
    const char before = text_[at - 1];
    return is_identifier(before) || before == ']' || before == '}' || before == '<' ||
           before == ':' || before == ' ' || before == ',' || before == '(' || before == '&' ||
           before == '*' || before == '[';
  }

  // Closes down to `wanted`: angle brackets that are still open were operators.
  static void close(char wanted, std::string& open) {
    const auto found = open.rfind(wanted);
    if (found != std::string::npos) {
      open.resize(found);
    }
  }

  void skip_to(std::size_t end) {
    if (end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    at_ = end;
  }

  void step() {
    const char c = text_[at_];
    if (is_operator_word(at_)) {
      operator_name();
    } else if (c == '<') {
      angle_brackets();
    } else if (c == '(') {
      parentheses();
    } else if (c == '{') {
      braces();
    } else if (c == '[') {
      square_brackets();
    } else if (c == ' ') {
      space();
    } else if (c == '\'') {
      quoted();
    } else if (is_identifier(c) || c == ':' || c == '~' || c == '@' || c == '#') {
      copy(1);
    } else if (c == '*' || c == '&') {
      ++at_;  // of a return type, or of a type that a Rust method belongs to
    } else {
      failed_ = true;  // a dot too: clone suffixes are gone by now
    }
  }

  void operator_name() {
    copy(std::string_view("operator").size());
    const auto length = operator_symbol_length(at_);
    if (length > 0) {
      const bool is_literal = is_next("\"\"");
      copy(length);
      if (is_literal && take(" ")) {
        out_ += ' ';  // operator"" _km: the identifier follows
      }
      take(is_next(" <") ? " " : "");
      return;
    }
    for (const auto word : {" new[]", " delete[]", " new", " delete", " co_await"}) {
      if (is_next(word)) {
        copy(std::string_view(word).size());
        return;
      }
    }
    conversion();
  }

  // "operator std::vector<int> const&() const": the type up to the parameter list.
  void conversion() {
    while (at_ < text_.size() && text_[at_] != '(' && !failed_) {
      if (text_[at_] == '<') {
        skip_to(skip_brackets(at_));
      } else {
        copy(1);
      }
    }
  }

  void angle_brackets() {
    const auto end = skip_brackets(at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    if (out_.empty()) {
      self_type(end);
      return;
    }
    if (end < text_.size() && is_identifier(text_[end])) {
      failed_ = true;
      return;
    }
    if (out_.size() >= 2 && out_.compare(out_.size() - 2, 2, "::") == 0) {
      if (!is_rust_argument_list(end)) {
        self_type(end);
        return;
      }
      out_.resize(out_.size() - 2);
    }
    at_ = end;
  }

  // After "::" come either arguments, "f::<T>", or, in Rust's legacy names, the type that a method
  // belongs to: "module::<T as Trait>::method", "module::<impl Trait for T>::method".
  bool is_rust_argument_list(std::size_t end) const {
    constexpr std::string_view kAs = " as ", kImpl = "impl ";
    const auto content = text_.substr(at_ + 1, end - at_ - 2);
    int depth = 0;
    for (std::size_t at = 0; at < content.size(); ++at) {
      const char c = content[at];
      depth += c == '<' || c == '(' || c == '[' || c == '{' ? 1 : 0;
      depth -= c == ')' || c == ']' || c == '}' || (c == '>' && at > 0 && content[at - 1] != '-')
                   ? 1
                   : 0;
      if (depth == 0 && content.substr(at, kAs.size()) == kAs) {
        return false;
      }
    }
    return content.substr(0, kImpl.size()) != kImpl;
  }

  // "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop" keeps what it is about.
  void self_type(std::size_t end) {
    const auto content = text_.substr(at_ + 1, end - at_ - 2);
    out_ += "<" + without_arguments(content) + ">";
    at_ = end;
  }

  // A text as it is, but for what is in angle brackets behind a name.
  static std::string without_arguments(std::string_view text) {
    const Shortener scan(text);
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      const bool is_list = text[at] == '<' && at > 0 && scan.opens_template(at) &&
                           (is_identifier(text[at - 1]) || text[at - 1] == ':');
      const auto end = is_list ? scan.skip_brackets(at) : std::string_view::npos;
      if (end == std::string_view::npos) {
        result += text[at++];
        continue;
      }
      at = end;
      if (result.size() >= 2 && result.compare(result.size() - 2, 2, "::") == 0) {
        result.resize(result.size() - 2);
      }
    }
    return result;
  }

  void parentheses() {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (is_next(kAnonymous)) {
      copy(kAnonymous.size());
      return;
    }
    const auto end = skip_brackets(at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    if (out_.empty() && (is_next("(*") || is_next("(&"))) {
      declarator(end);
      return;
    }
    // Go writes "pkg.(*Type).Method" and "pkg.Type.Method(...)": not ours to cut.
    if ((!out_.empty() && out_.back() == '.') ||
        (end < text_.size() && (text_[end] == '.' || is_identifier(text_[end])))) {
      failed_ = true;
      return;
    }
    at_ = end;
    skip_qualifiers();
  }

  // "void (*pick<int>(int))(char)": the function that returns a function is inside.
  void declarator(std::size_t end) {
    auto inside = text_.substr(at_ + 1, end - at_ - 2);
    inside.remove_prefix(std::min(inside.find_first_not_of("*& "), inside.size()));
    auto name = Shortener(inside).run();
    failed_ = failed_ || !name.has_value();
    out_ = std::move(name).value_or(std::string());
    is_done_ = true;
  }

  // What may stand behind a parameter list and is not the start of another word.
  void skip_qualifiers() {
    for (bool has_more = true; has_more;) {
      has_more = false;
      for (const auto word :
           {" const", " volatile", " restrict", " noexcept", " &&", " &", "&&", "&"}) {
        const std::string_view qualifier = word;
        const auto after = text_.substr(std::min(text_.size(), at_ + qualifier.size()), 1);
        if (is_next(qualifier) && (after.empty() || !is_identifier(after[0]))) {
          at_ += qualifier.size();
          has_more = true;
        }
      }
    }
  }

  void braces() {
    const auto end = skip_brackets(at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    out_ += without_arguments(text_.substr(at_, end - at_));
    at_ = end;
  }

  void square_brackets() {
    const bool is_tag = is_next("[abi:") || is_next("[clone") || is_next("[inlined");
    const auto end = skip_brackets(at_);
    if (!is_tag || end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    at_ = end;
  }

  // What came before a space was a return type, unless it is the end of the name.
  void space() {
    if (is_next(" [clone") || is_next(" [inlined")) {
      is_done_ = true;
      return;
    }
    ++at_;
    if (at_ < text_.size() && text_[at_] != '[') {
      out_.clear();
    }
  }

  // LLVM's demangler writes 'lambda'(int)#2 and 'unnamed0'.
  void quoted() {
    const bool is_known = is_next("'lambda") || is_next("'unnamed") || is_next("'block-literal'");
    const auto end = text_.find('\'', at_ + 1);
    if (!is_known || end == std::string_view::npos) {
      failed_ = true;
      return;
    }
    copy(end + 1 - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool failed_ = false;
  bool is_done_ = false;
};

bool looks_demangled(std::string_view text) {
  return text.find("::") != std::string_view::npos || text.find('(') != std::string_view::npos ||
         (!text.empty() && text.back() == '>');
}

// Phrases that a demangler puts before the name of what is no ordinary function.
std::size_t special_prefix_length(std::string_view text) {
  for (const std::string_view prefix :
       {"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ",
        "TLS init function for ", "TLS wrapper function for ", "guard variable for ", "vtable for ",
        "VTT for ", "typeinfo for ", "typeinfo name for ", "hidden alias for ",
        "transaction clone for ", "non-transaction clone for "}) {
    if (text.substr(0, prefix.size()) == prefix) {
      return prefix.size();
    }
  }
  return 0;
}

}  // namespace

std::string_view without_clone_suffixes(std::string_view symbol) {
  constexpr std::string_view kSuffixes[] = {"cold",     "part", "isra",      "constprop",
                                            "lto_priv", "llvm", "localalias"};
  for (;;) {
    // From the end: digits with dots, then one of the words.
    auto end = symbol.size();
    while (end > 0 && (std::isdigit(static_cast<unsigned char>(symbol[end - 1])) != 0 ||
                       symbol[end - 1] == '.')) {
      --end;
    }
    const auto dot = symbol.rfind('.', end == 0 ? 0 : end - 1);
    if (dot == std::string_view::npos || dot == 0 || dot >= end) {
      return symbol;
    }
    const auto word = symbol.substr(dot + 1, end - dot - 1);
    if (std::find(std::begin(kSuffixes), std::end(kSuffixes), word) == std::end(kSuffixes)) {
      return symbol;
    }
    symbol = symbol.substr(0, dot);
  }
}

std::string shorten_for_display(std::string_view demangled) {
  const auto base = without_clone_suffixes(demangled);
  if (!looks_demangled(base)) {
    return std::string(base);
  }
  const auto prefix = special_prefix_length(base);
  const auto name = Shortener(base.substr(prefix)).run();
  return name.has_value() ? std::string(base.substr(0, prefix)) + *name : std::string(base);
}

}  // namespace lumbre
