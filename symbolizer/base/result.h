// Result<T>: a value or an Error. Errors are values here; nothing in Lumbre throws on input.
//
// The members are named as std::expected names them, so that it can become an alias once the
// supported compilers have <expected> in C++20 mode. There is no conversion to bool: has_value()
// is spelled out. Any thread may use distinct results.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lumbre {

enum class ErrorKind {
  kSystem,        // a system call failed; `system_errno` says how
  kNotFound,      // the thing asked for is not there
  kPermission,    // not permitted here
  kMalformed,     // input bytes do not follow their format
  kUnsupported,   // well-formed, but a form that is not handled
  kInvalidUsage,  // the caller asked for something meaningless
};

struct Error {
  ErrorKind kind = ErrorKind::kSystem;
  int system_errno = 0;
  std::string message;  // what was tried, on what, why it failed; no trailing full stop

  static Error system(int saved_errno, std::string what);
  static Error not_found(std::string what) { return {ErrorKind::kNotFound, 0, std::move(what)}; }
  static Error malformed(std::string what) { return {ErrorKind::kMalformed, 0, std::move(what)}; }
  static Error unsupported(std::string what) {
    return {ErrorKind::kUnsupported, 0, std::move(what)};
  }
  static Error usage(std::string what) { return {ErrorKind::kInvalidUsage, 0, std::move(what)}; }

  // The same error with "context: " put before its message.
  Error in_context(const std::string& context) const;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : storage_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : storage_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const { return storage_.index() == 0; }
  T& value() & { return std::get<0>(storage_); }
  const T& value() const& { return std::get<0>(storage_); }
  T&& value() && { return std::get<0>(std::move(storage_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const Error& error() const& { return std::get<1>(storage_); }
  Error&& error() && { return std::get<1>(std::move(storage_)); }
  T value_or(T fallback) const& { return has_value() ? value() : std::move(fallback); }

 private:
  std::variant<T, Error> storage_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const { return !error_.has_value(); }
  const Error& error() const& { return *error_; }
  Error&& error() && { return std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace lumbre

#define LUMBRE_CONCAT_INNER(a, b) a##b
#define LUMBRE_CONCAT(a, b) LUMBRE_CONCAT_INNER(a, b)

// Returns the error of `expr` from the enclosing function, if it has one.
#define LUMBRE_TRY(expr)                           \
  do {                                             \
    auto lumbre_try_result = (expr);               \
    if (!lumbre_try_result.has_value()) {          \
      return std::move(lumbre_try_result).error(); \
    }                                              \
  } while (0)

// LUMBRE_TRY_ASSIGN(auto x, f()): declares x with the value of f(), or returns its error.
#define LUMBRE_TRY_ASSIGN(declaration, expr) \
  LUMBRE_TRY_ASSIGN_INNER(LUMBRE_CONCAT(lumbre_result_, __LINE__), declaration, expr)
#define LUMBRE_TRY_ASSIGN_INNER(temporary, declaration, expr) \
  auto temporary = (expr);                                    \
  if (!temporary.has_value()) {                               \
    return std::move(temporary).error();                      \
  }                                                           \
  declaration = std::move(temporary).value()
