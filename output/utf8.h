// UTF-8 repair: every text that leaves Lumbre is valid UTF-8, whatever bytes a name was read from.
// Each maximal ill-formed part becomes one U+FFFD (Unicode 15, section 3.9, "U+FFFD Substitution
// of Maximal Subparts"). NUL and other controls are valid and pass. Linear; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lumbre::output {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// The length of the well-formed sequence that `text` begins with (1 to 4). 0: it begins with an
// ill-formed part, whose length is put in `ill_formed_length`. `text` is not empty.
std::size_t utf8_sequence_length(std::string_view text, std::size_t& ill_formed_length);

bool is_valid_utf8(std::string_view text);
void append_valid_utf8(std::string& out, std::string_view text);

}  // namespace lumbre::output
