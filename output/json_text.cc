#include "output/json_text.h"

#include <cstdio>

#include "output/utf8.h"

namespace lumbre::output {

void append_json_string(std::string& out, std::string_view text) {
  std::string valid;
  append_valid_utf8(valid, text);
  out.push_back('"');
  for (const char c : valid) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20 || byte == 0x7F) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", unsigned{byte});
      out.append(escape);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace lumbre::output
