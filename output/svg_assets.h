// The script and the style sheet of the flame graph, made from assets/ at build time.
#pragma once

#include <string_view>

namespace lumbre::output {

extern const std::string_view kFlamegraphScript;
extern const std::string_view kFlamegraphStyle;

}  // namespace lumbre::output
