// Rust names: legacy ("_ZN...17h<hash>E") and v0 ("_R...", RFC 2603 with its later additions).
// Nothing for any other name or one that breaks the grammar. Output and work are bounded, because
// back references can make a short name expand without end. The hash and crate disambiguators are
// left out. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lumbre {

std::optional<std::string> demangle_rust_legacy(std::string_view mangled);
std::optional<std::string> demangle_rust_v0(std::string_view mangled);

}  // namespace lumbre
