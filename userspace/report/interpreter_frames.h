// Which native functions are the interpreter's own plumbing: between two Python frames they say
// nothing that the Python frames do not say, and are hidden unless asked for.
#pragma once

#include <string_view>

namespace lumbre {

bool is_interpreter_plumbing(std::string_view symbol_name);

}  // namespace lumbre
