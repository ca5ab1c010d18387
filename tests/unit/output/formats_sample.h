// A small profile with every kind of frame, and a text form of a profile to compare by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "output/profile.h"

namespace lumbre::output {

// Two samples of one thread and one of another, as a `cpu` recording has them.
Profile make_sample_profile();

// A sample type's profile of one native function per name, root first; one sample of value 1.
Profile make_stack_profile(const std::vector<std::string>& names);

// All that a format should keep, one line per sample, frame, label and setting.
std::string describe(const Profile& profile);

std::string pprof_bytes(const Profile& profile);
std::string folded_text(const Profile& profile, std::uint32_t sample_type = 0);

}  // namespace lumbre::output
