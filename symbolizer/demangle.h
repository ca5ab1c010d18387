// Readable names: C++ (Itanium) and Rust (legacy and v0) are demangled, others stay as they are.
// Any thread. demangle() costs microseconds: call it once for a symbol, not for a sample.
#pragma once

#include <string>
#include <string_view>

namespace lumbre {

// The whole name, arguments and template arguments included.
std::string demangle(std::string_view mangled);

// For display: parameter lists, template arguments, return types, ABI tags and clone suffixes
// (.cold, .part.0, .isra.0, .constprop.0, .lto_priv.0) are left out, lambdas and anonymous
// namespaces kept readable: "at::native::(anonymous namespace)::add_kernel". Never empty for a
// non-empty name; "operator<", "operator()", "operator->" and "operator<<" survive. What does not
// follow the grammar of C++ or Rust names is returned as it is.
std::string shorten_for_display(std::string_view demangled);

// Both in one, for a name as the symbol table has it: a name that is not mangled loses nothing but
// its clone suffixes, whatever characters it holds.
std::string display_name(std::string_view symbol);

// "foo.part.0.cold" is "foo".
std::string_view without_clone_suffixes(std::string_view symbol);

}  // namespace lumbre
