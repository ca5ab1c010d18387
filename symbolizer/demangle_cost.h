// How long a C++ name (Itanium ABI, section 5.1) becomes when it is demangled.
//
// Names come from files that anybody may have written, and abi::__cxa_demangle has no limits:
// substitutions let 270 characters stand for gigabytes of text, and on some malformed names the
// one of GCC 12 never returns. This parse adds lengths up instead of printing, in time linear in
// the mangled name. It follows all but 2 of the 540,000 C++ names of libtorch, LLVM and libstdc++
// that __cxa_demangle takes. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace lumbre {

// True for a well-formed name that stays below a mebibyte.
bool is_safe_to_demangle(std::string_view mangled);

// An estimate, mostly from above; 0 when the parser cannot follow.
std::uint64_t demangled_length(std::string_view mangled);

}  // namespace lumbre
