// How long a C++ name (Itanium ABI, section 5.1) becomes when it is demangled.
//
// Substitutions let 270 characters stand for gigabytes of text, and abi::__cxa_demangle has no
// limit on its output; this parse adds lengths up instead of printing and costs the length of the
// mangled name. An estimate, mostly from above. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace lumbre {

// False for a name that would become longer than a mebibyte, and for one that the parser cannot
// follow and that holds enough substitutions to become so.
bool is_cheap_to_demangle(std::string_view mangled);

// The estimate itself; 0 when the parser cannot follow. For tests.
std::uint64_t demangled_length(std::string_view mangled);

}  // namespace lumbre
