// The formats that a profile is written to and read from. Writers write to a stream and return
// false when the stream failed; readers take bytes and never trust them.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "output/profile.h"

namespace lumbre::output {

// pprof (gzip-compressed profile.proto).
bool write_pprof(const Profile& profile, std::ostream& out);
// Takes gzip-compressed or plain bytes of any producer; on failure `error` says why.
std::optional<Profile> read_pprof(std::string_view bytes, std::string* error);

// Folded stacks: "root;...;leaf value\n", one line per distinct stack. `sample_type` is an index.
bool write_folded(const Profile& profile, std::uint32_t sample_type, std::ostream& out);
// Of any producer; kernel ("_[k]"), inlined ("_[i]") and JIT ("_[j]") marks become frame kinds.
std::optional<Profile> read_folded(std::string_view text, std::string* error);

// speedscope's file format, one "sampled" profile per thread.
bool write_speedscope(const Profile& profile, std::uint32_t sample_type, std::string_view title,
                      std::ostream& out);

// Folder-independent checks of a finished profile (pprof's own rules and the contract's); the
// first broken one as a sentence, or "".
std::string check_profile(const Profile& profile);

}  // namespace lumbre::output
