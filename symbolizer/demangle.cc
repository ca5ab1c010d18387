#include "symbolizer/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "symbolizer/demangle_cost.h"
#include "symbolizer/demangle_itanium.h"
#include "symbolizer/demangle_rust.h"

namespace lumbre {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<std::string> demangle_runtime(std::string_view mangled) {
  if (!is_safe_to_demangle(mangled)) {
    return std::nullopt;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::optional<std::string>(text.get()) : std::nullopt;
}

enum class Form : std::uint8_t { kWhole, kDisplay };

std::optional<std::string> shortened(std::optional<std::string> name, Form form) {
  return form == Form::kDisplay && name.has_value() ? std::optional(shorten_for_display(*name))
                                                    : std::move(name);
}

std::optional<std::string> demangle_cxx(std::string_view mangled, Form form) {
  // "___Z" is a block of code that clang makes for a function.
  if (starts_with(mangled, "___Z")) {
    auto name = demangle_cxx(mangled.substr(2), form);
    return name.has_value() ? std::optional("invocation function for block in " + *name) : name;
  }
  if (!starts_with(mangled, "_Z")) {
    return std::nullopt;
  }
  auto name = form == Form::kWhole ? demangle_itanium(mangled) : display_itanium(mangled);
  return name.has_value() ? name : shortened(demangle_runtime(mangled), form);
}

std::optional<std::string> demangle_base(std::string_view mangled, Form form) {
  if (auto name = demangle_rust_legacy(mangled); name.has_value()) {
    return shortened(std::move(name), form);
  }
  if (auto name = demangle_rust_v0(mangled); name.has_value()) {
    return shortened(std::move(name), form);
  }
  return demangle_cxx(mangled, form);
}

// "@plt" belongs to the name that is shown, not to the one that is mangled; neither does what a
// compiler hangs on the name of a variable (".llvm.123"), which is no part of the C++ grammar.
std::optional<std::string> try_demangle(std::string_view mangled, Form form) {
  const auto at = std::min(mangled.find('@'), mangled.size());
  auto name = demangle_base(mangled.substr(0, at), form);
  if (name.has_value()) {
    return *name + std::string(mangled.substr(at));
  }
  const auto dot = mangled.find('.');
  if (dot == std::string_view::npos || dot == 0) {
    return std::nullopt;
  }
  name = demangle_base(mangled.substr(0, dot), form);
  if (!name.has_value()) {
    return std::nullopt;
  }
  *name += mangled.substr(dot);
  return form == Form::kDisplay ? std::string(without_clone_suffixes(*name)) : *name;
}

}  // namespace

std::string demangle(std::string_view mangled) {
  return try_demangle(mangled, Form::kWhole).value_or(std::string(mangled));
}

std::string display_name(std::string_view symbol) {
  auto name = try_demangle(symbol, Form::kDisplay);
  return name.has_value() ? cap_display_name(*std::move(name))
                          : std::string(without_clone_suffixes(symbol));
}

}  // namespace lumbre
