#include "symbolizer/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "symbolizer/demangle_cost.h"
#include "symbolizer/demangle_rust.h"

namespace lumbre {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<std::string> demangle_cxx(std::string_view mangled) {
  // "___Z" is a block of code that clang makes for a function.
  if (!starts_with(mangled, "_Z") && !starts_with(mangled, "___Z")) {
    return std::nullopt;
  }
  if (!is_safe_to_demangle(mangled.substr(mangled.find('Z') - 1))) {
    return std::nullopt;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::optional<std::string>(text.get()) : std::nullopt;
}

std::optional<std::string> demangle_base(std::string_view mangled) {
  if (auto name = demangle_rust_legacy(mangled); name.has_value()) {
    return name;
  }
  if (auto name = demangle_rust_v0(mangled); name.has_value()) {
    return name;
  }
  return demangle_cxx(mangled);
}

// "@plt" belongs to the name that is shown, not to the one that is mangled; neither does what a
// compiler hangs on the name of a variable (".llvm.123"), which the C++ demangler does not take.
std::optional<std::string> try_demangle(std::string_view mangled) {
  const auto at = std::min(mangled.find('@'), mangled.size());
  auto name = demangle_base(mangled.substr(0, at));
  if (name.has_value()) {
    return *name + std::string(mangled.substr(at));
  }
  const auto dot = mangled.find('.');
  if (dot != std::string_view::npos && dot > 0) {
    name = demangle_base(mangled.substr(0, dot));
    return name.has_value() ? std::optional(*name + std::string(mangled.substr(dot)))
                            : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::string demangle(std::string_view mangled) {
  return try_demangle(mangled).value_or(std::string(mangled));
}

std::string display_name(std::string_view symbol) {
  const auto name = try_demangle(symbol);
  return name.has_value() ? shorten_for_display(*name)
                          : std::string(without_clone_suffixes(symbol));
}

}  // namespace lumbre
