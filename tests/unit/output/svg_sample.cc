#include "svg_sample.h"

#include <algorithm>

namespace lumbre::test {

using output::FrameKind;

ProfileBuilder::ProfileBuilder() {
  profile.sample_types = {{profile.intern("cpu"), profile.intern("nanoseconds")}};
}

output::LocationId ProfileBuilder::frame(std::string_view text) {
  constexpr std::string_view kLetters = "pnkjut";  // in the order of FrameKind
  output::Location location;
  location.kind = static_cast<FrameKind>(kLetters.find(text[0]));
  text.remove_prefix(2);
  output::Function function;
  output::Line line;
  if (const std::size_t at = text.rfind('@'); at != text.npos) {
    const std::size_t colon = text.rfind(':');
    function.filename = profile.intern(text.substr(at + 1, colon - at - 1));
    line.line = std::stoll(std::string(text.substr(colon + 1)));
    text = text.substr(0, at);
  }
  function.name = profile.intern(text);
  function.system_name = function.name;
  line.function = profile.add_function(function);
  location.lines = {line};
  return profile.add_location(location);
}

void ProfileBuilder::sample(const std::vector<std::string>& frames, std::int64_t value) {
  output::Sample sample;
  for (const std::string& text : frames) sample.locations.push_back(frame(text));
  std::reverse(sample.locations.begin(), sample.locations.end());
  sample.values = {value};
  profile.samples.push_back(sample);
}

output::Profile make_small_profile() {
  constexpr std::int64_t kMillisecond = 1'000'000;
  ProfileBuilder builder;
  const std::string conv = "n:at::native::conv2d";
  builder.sample({"p:main@/src/train.py:9", "p:Trainer.step@/src/train.py:40", conv},
                 600 * kMillisecond);
  builder.sample({"p:main@/src/train.py:9", "p:Trainer.step@/src/train.py:41", "k:vfs_read"},
                 250 * kMillisecond);
  builder.sample({"p:main@/src/train.py:9", "j:[jit]"}, 99 * kMillisecond);
  builder.sample({"t:[truncated: no unwind data]", "u:libmkl.so+0x12"}, 50 * kMillisecond);
  builder.sample({"p:main@/src/train.py:9", "n:rare<&>"}, kMillisecond / 2);
  return std::move(builder.profile);
}

}  // namespace lumbre::test
