// Text for the flame graph: escaping for each place that a name can stand in, label fitting and
// human units. What is not here: where things stand (svg_shapes.h) and the script's own copy of
// label fitting and units (assets/flamegraph.js), which must agree with this one.
// Pure; any thread; linear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lumbre::output {

// Valid UTF-8 without the characters that XML 1.0 forbids or that would break a line: each of
// them becomes U+FFFD. Everything below takes text that went through here.
std::string clean_text(std::string_view text);

// For XML and HTML text and for quoted attributes of both.
std::string escape_markup(std::string_view text);
// A JSON string with its quotes which is also inert inside CDATA and inside <script>.
std::string json_string(std::string_view text);

// Of a 12-pixel line in the widest of the common sans-serif fonts, in pixels.
double label_width(std::string_view text);
// What of a function's name fits: all; else its last parts ("…conv2d" of "at::native::conv2d");
// else the beginning of its last part; else "".
std::string fit_label(std::string_view name, double width);

// "9.87 s", "412 MiB", "12,345"; `unit` as in pprof.
std::string human_value(std::int64_t value, std::string_view unit);
// "12.3%"; never "0%" for what is there.
std::string human_share(std::int64_t part, std::int64_t whole);
std::string human_count(std::uint64_t count);

}  // namespace lumbre::output
