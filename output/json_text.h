// Appends a JSON string (RFC 8259) with its quotes; ill-formed UTF-8 becomes U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace lumbre::output {

void append_json_string(std::string& out, std::string_view text);

}  // namespace lumbre::output
