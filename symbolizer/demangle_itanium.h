// C++ names (Itanium C++ ABI): the whole and the short form of a name that starts with "_Z".
// Nothing when it is none, or would take unreasonable time or room. Any thread. Internal to
// demangle.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lumbre {

std::optional<std::string> demangle_itanium(std::string_view mangled);
std::optional<std::string> display_itanium(std::string_view mangled);

// At most 120 characters: the middle of a longer name is left out.
std::string cap_display_name(std::string name);

}  // namespace lumbre
