// The version that --version and summary.json tell.
#pragma once

namespace lumbre {

inline constexpr const char* kVersion = LUMBRE_VERSION;

}  // namespace lumbre
