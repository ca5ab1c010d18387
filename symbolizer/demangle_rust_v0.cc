// The grammar of RFC 2603 as a recursive descent that prints while it parses.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "symbolizer/demangle_rust.h"
#include "symbolizer/demangle_rust_cursor.h"
#include "symbolizer/demangle_text.h"

namespace lumbre {
namespace {

constexpr std::size_t kMaxOutputBytes = 65536;
constexpr int kMaxDepth = 200;
constexpr int kMaxSteps = 200'000;  // back references can repeat work exponentially

std::string_view basic_type(char tag) {
  switch (tag) {
    case 'a':
      return "i8";
    case 'b':
      return "bool";
    case 'c':
      return "char";
    case 'd':
      return "f64";
    case 'e':
      return "str";
    case 'f':
      return "f32";
    case 'h':
      return "u8";
    case 'i':
      return "isize";
    case 'j':
      return "usize";
    case 'l':
      return "i32";
    case 'm':
      return "u32";
    case 'n':
      return "i128";
    case 'o':
      return "u128";
    case 'p':
      return "_";
    case 's':
      return "i16";
    case 't':
      return "u16";
    case 'u':
      return "()";
    case 'v':
      return "...";
    case 'x':
      return "i64";
    case 'y':
      return "u64";
    case 'z':
      return "!";
    default:
      return {};
  }
}

class Printer : private RustCursor {
 public:
  explicit Printer(std::string_view mangled) : RustCursor(mangled) {}  // without "_R"

  std::optional<std::string> print() {
    path(/*is_value=*/true);
    if (!failed_ && at_ < text_.size() && text_[at_] != '.' && text_[at_] != '$') {
      print_nothing([this] { path(false); });  // the instantiating crate
    }
    const bool is_whole = at_ == text_.size() || text_[at_] == '.' || text_[at_] == '$';
    return failed_ || !is_whole || out_.empty() ? std::nullopt : std::optional(std::move(out_));
  }

 private:
  // One step into the grammar; too deep or too many of them make everything fail.
  class Nesting {
   public:
    explicit Nesting(Printer& printer) : printer_(printer) {
      if (++printer_.depth_ > kMaxDepth || ++printer_.steps_ > kMaxSteps) {
        printer_.failed_ = true;
      }
    }
    ~Nesting() { --printer_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Printer& printer_;
  };

  void put(std::string_view text) {
    if (out_.size() + text.size() > kMaxOutputBytes) {
      failed_ = true;
    }
    if (!failed_ && muted_ == 0) {
      out_ += text;
    }
  }
  void put(const Identifier& id) {
    if (!id.is_punycode || muted_ != 0) {
      put(id.name);
      return;
    }
    const auto decoded = decode_punycode(id.name);
    failed_ = failed_ || !decoded.has_value();
    put(decoded.value_or(std::string()));
  }
  template <typename Function>
  void print_nothing(const Function& parse) {
    ++muted_;
    parse();
    --muted_;
  }

  // Runs `print_there` at an earlier position.
  template <typename Function>
  void back_reference(const Function& print_there) {
    const std::size_t start = at_ - 1;
    const std::uint64_t target = base62();
    if (failed_ || target >= start) {
      failed_ = true;
      return;
    }
    const std::size_t resume = std::exchange(at_, static_cast<std::size_t>(target));
    print_there();
    at_ = resume;
  }

  void path(bool is_value) {
    const Nesting nesting(*this);
    switch (next()) {
      case 'C':
        put(identifier());
        break;
      case 'N':
        nested_path(is_value);
        break;
      case 'M':
        skip_impl_path();
        put("<");
        type();
        put(">");
        break;
      case 'X':
        skip_impl_path();
        [[fallthrough]];
      case 'Y':
        put("<");
        type();
        put(" as ");
        path(false);
        put(">");
        break;
      case 'I':
        path(is_value);
        put(is_value ? "::<" : "<");
        list([this] { generic_argument(); });
        put(">");
        break;
      case 'B':
        back_reference([&] { path(is_value); });
        break;
      default:
        failed_ = true;
    }
  }

  void nested_path(bool is_value) {
    const char name_space = next();
    path(is_value);
    const Identifier id = identifier();
    if (name_space >= 'A' && name_space <= 'Z') {
      put("::{");
      put(name_space == 'C'   ? std::string_view("closure")
          : name_space == 'S' ? std::string_view("shim")
                              : std::string_view(&name_space, 1));
      put(id.name.empty() ? "" : ":");
      put(id);
      put("#" + std::to_string(id.disambiguator) + "}");
    } else if (name_space >= 'a' && name_space <= 'z') {
      put(id.name.empty() ? "" : "::");
      put(id);
    } else {
      failed_ = true;
    }
  }

  void skip_impl_path() {
    optional_base62('s');
    print_nothing([this] { path(false); });
  }

  // Items up to "E", with commas between. Returns their number.
  template <typename Function>
  int list(const Function& item, std::string_view separator = ", ") {
    int count = 0;
    while (!failed_ && !take('E')) {
      put(count++ == 0 ? "" : separator);
      item();
    }
    return count;
  }

  void generic_argument() {
    if (take('L')) {
      lifetime(base62());
    } else if (take('K')) {
      constant();
    } else {
      type();
    }
  }

  void lifetime(std::uint64_t index) {
    if (index == 0) {
      put("'_");
      return;
    }
    failed_ = failed_ || index > bound_lifetimes_;
    const std::uint64_t depth = failed_ ? 0 : bound_lifetimes_ - index;
    put("'");
    if (depth < 26) {
      const char letter = static_cast<char>('a' + depth);
      put({&letter, 1});
    } else {
      put("_" + std::to_string(depth));
    }
  }

  // "for<'a, 'b> " of a binder, around what `inner` prints.
  template <typename Function>
  void in_binder(const Function& inner) {
    constexpr std::uint64_t kMaxLifetimes = 1000;
    const std::uint64_t count = optional_base62('G');
    failed_ = failed_ || count > kMaxLifetimes;
    if (count > 0 && !failed_) {
      put("for<");
      for (std::uint64_t i = 0; i < count; ++i) {
        put(i == 0 ? "" : ", ");
        ++bound_lifetimes_;
        lifetime(1);
      }
      put("> ");
    }
    inner();
    bound_lifetimes_ -= failed_ ? 0 : count;
  }

  void type() {
    const Nesting nesting(*this);
    const char tag = next();
    if (const auto name = basic_type(tag); !name.empty()) {
      put(name);
      return;
    }
    switch (tag) {
      case 'A':
      case 'S':
        put("[");
        type();
        if (tag == 'A') {
          put("; ");
          constant();
        }
        put("]");
        break;
      case 'T':
        put("(");
        put(list([this] { type(); }) == 1 ? ",)" : ")");
        break;
      case 'R':
      case 'Q':
        reference_type(tag == 'Q');
        break;
      case 'P':
      case 'O':
        put(tag == 'P' ? "*const " : "*mut ");
        type();
        break;
      case 'F':
        in_binder([this] { function_signature(); });
        break;
      case 'D':
        trait_object();
        break;
      case 'B':
        back_reference([this] { type(); });
        break;
      default:
        at_ -= failed_ ? 0 : 1;
        path(false);
    }
  }

  void reference_type(bool is_mutable) {
    put("&");
    if (take('L')) {
      if (const auto index = base62(); index != 0) {
        lifetime(index);
        put(" ");
      }
    }
    put(is_mutable ? "mut " : "");
    type();
  }

  void function_signature() {
    put(take('U') ? "unsafe " : "");
    if (take('K')) {
      std::string abi(take('C') ? "C" : undisambiguated_identifier().name);
      for (char& c : abi) {
        c = c == '_' ? '-' : c;
      }
      put("extern \"" + abi + "\" ");
    }
    put("fn(");
    list([this] { type(); });
    put(")");
    if (!take('u')) {
      put(" -> ");
      type();
    }
  }

  void trait_object() {
    put("dyn ");
    in_binder([this] { list([this] { dyn_trait(); }, " + "); });
    failed_ = failed_ || !take('L');
    if (const auto index = base62(); index != 0) {
      put(" + ");
      lifetime(index);
    }
  }

  // A path whose generic arguments are left open, so that bindings can follow inside the brackets.
  bool open_path() {
    const Nesting nesting(*this);
    if (take('B')) {
      bool is_open = false;
      back_reference([&] { is_open = open_path(); });
      return is_open;
    }
    if (!take('I')) {
      path(false);
      return false;
    }
    path(false);
    put("<");
    list([this] { generic_argument(); });
    return true;
  }

  void dyn_trait() {
    bool is_open = open_path();
    while (take('p')) {
      put(is_open ? ", " : "<");
      is_open = true;
      put(undisambiguated_identifier());
      put(" = ");
      type();
    }
    put(is_open ? ">" : "");
  }

  void constant() {
    const Nesting nesting(*this);
    const char tag = next();
    switch (tag) {
      case 'p':
        put("_");
        break;
      case 'B':
        back_reference([this] { constant(); });
        break;
      case 'b': {
        const auto value = hex_value(hex_digits());
        failed_ = failed_ || value.value_or(2) > 1;
        put(value == 1 ? "true" : "false");
        break;
      }
      case 'c':
        character_constant();
        break;
      case 'R':
      case 'Q':
        reference_constant(tag == 'Q');
        break;
      case 'A':
        put("[");
        list([this] { constant(); });
        put("]");
        break;
      case 'T':
        put("(");
        put(list([this] { constant(); }) == 1 ? ",)" : ")");
        break;
      case 'V':
        path(true);
        constant_fields();
        break;
      case 'e':
        put("*");
        string_constant();
        break;
      default:
        integer_constant(tag);
    }
  }

  void integer_constant(char tag) {
    constexpr std::string_view kSigned = "aslxni", kUnsigned = "htmyoj";
    const bool is_signed = kSigned.find(tag) != std::string_view::npos;
    if (tag == '\0' || (!is_signed && kUnsigned.find(tag) == std::string_view::npos)) {
      failed_ = true;
      return;
    }
    put(is_signed && take('n') ? "-" : "");
    const auto digits = hex_digits();
    const auto value = hex_value(digits);
    put(value.has_value() ? std::to_string(*value) : "0x" + std::string(digits));
  }

  void character_constant() {
    const auto value = hex_value(hex_digits()).value_or(UINT64_MAX);
    if (failed_ || !is_unicode_scalar(value)) {
      failed_ = true;
      return;
    }
    std::string text = "'";
    append_character(static_cast<std::uint32_t>(value), '\'', text);
    put(text + "'");
  }

  static void append_character(std::uint32_t code, char quote, std::string& text) {
    if (code == static_cast<unsigned char>(quote) || code == '\\') {
      text += '\\';
    }
    if (code == '\n') {
      text += "\\n";
    } else if (code == '\t') {
      text += "\\t";
    } else if (code == '\r') {
      text += "\\r";
    } else if (code < 0x20 || code == 0x7f) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      text += "\\u{";
      text += code >= 16 ? std::string(1, kDigits[code >> 4]) : "";
      text += kDigits[code & 15];
      text += '}';
    } else {
      append_utf8(code, text);
    }
  }

  void reference_constant(bool is_mutable) {
    if (!is_mutable && take('e')) {
      string_constant();
      return;
    }
    put(is_mutable ? "&mut " : "&");
    constant();
  }

  // UTF-8 as pairs of hex digits.
  void string_constant() {
    const auto digits = hex_digits();
    std::string text = "\"";
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      const auto byte = static_cast<std::uint32_t>(*hex_value(digits.substr(i, 2)));
      if (byte < 0x80) {
        append_character(byte, '"', text);
      } else {
        text += static_cast<char>(byte);
      }
    }
    failed_ = failed_ || digits.size() % 2 != 0;
    put(text + "\"");
  }

  void constant_fields() {
    const char kind = next();
    if (kind == 'T') {
      put("(");
      list([this] { constant(); });
      put(")");
    } else if (kind == 'S') {
      put(" { ");
      list([this] {
        put(identifier());
        put(": ");
        constant();
      });
      put(" }");
    } else {
      failed_ = failed_ || kind != 'U';
    }
  }

  std::string out_;
  int depth_ = 0;
  int steps_ = 0;
  int muted_ = 0;
  std::uint64_t bound_lifetimes_ = 0;
};

}  // namespace

std::optional<std::string> demangle_rust_v0(std::string_view mangled) {
  if (mangled.substr(0, 2) != "_R" || mangled.size() < 3 || mangled[2] < 'A' || mangled[2] > 'Z') {
    return std::nullopt;  // a digit would be an encoding version that does not exist yet
  }
  return Printer(mangled.substr(2)).print();
}

}  // namespace lumbre
