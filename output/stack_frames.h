// The frames of a location as writers show them: one per inlined function, never without a name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "output/profile.h"

namespace lumbre::output {

// Views point into the profile, and `name` into the location's fallback where there is no name.
struct FrameView {
  std::string_view name;
  std::string_view file;  // source file; "" when unknown
  std::int64_t line = 0;
  std::int64_t column = 0;
  bool is_inlined = false;  // into the next frame towards the root
};

// The name of a place that has none: "module+0x1f", "[jit]" or "[unknown]".
std::string fallback_name(const Profile& profile, const Location& location);

// Calls visit(const FrameView&) for each frame, outermost first.
template <typename Visit>
void each_frame(const Profile& profile, const Location& location, Visit visit) {
  std::string fallback;
  FrameView frame;
  const auto show = [&](std::string_view name) {
    if (name.empty() && fallback.empty()) fallback = fallback_name(profile, location);
    frame.name = name.empty() ? std::string_view(fallback) : name;
    visit(std::as_const(frame));
  };
  if (location.lines.empty()) show("");
  for (std::size_t i = location.lines.size(); i-- > 0;) {
    const Line& line = location.lines[i];
    const Function function =
        line.function < profile.functions.size() ? profile.functions[line.function] : Function{};
    frame = {.name = {},
             .file = profile.text(function.filename),
             .line = line.line,
             .column = line.column,
             .is_inlined = i + 1 < location.lines.size()};
    show(profile.text(function.name));
  }
}

}  // namespace lumbre::output
