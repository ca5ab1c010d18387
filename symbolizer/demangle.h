// Readable names: C++ (Itanium), Rust (legacy and v0) and D are demangled, others stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace lumbre {

// The whole name, arguments and template arguments included.
std::string demangle(std::string_view mangled);

// For display: parameter lists, template arguments, return types, ABI tags and clone suffixes
// (.cold, .part.0, .isra.0, .constprop.0, .lto_priv.0) are left out, lambdas and anonymous namespaces kept readable:
// "at::native::(anonymous namespace)::add_kernel". Never empty for a non-empty name; "operator<",
// "operator()", "operator->" and "operator<<" survive.
std::string shorten_for_display(std::string_view demangled);

}  // namespace lumbre
