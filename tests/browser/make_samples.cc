// make_samples FOLDER: writes the pictures that the browser test opens.
#include <cstdio>
#include <fstream>
#include <string>

#include "output/svg.h"
#include "training_profile.h"

namespace lumbre::test {
namespace {

using output::Flamegraph;
using output::FlamegraphOptions;
using output::Profile;
using output::SvgOptions;

constexpr std::uint32_t kNanoseconds = 1;  // the sample type

SvgOptions options_of(const std::string& title) {
  SvgOptions options;
  options.title = title;
  options.subtitle =
      "python3 train.py --epochs 90, pid 4711 and 4 children; 10.0 s at 99 Hz; no losses";
  options.unit = "nanoseconds";
  options.metric = "CPU time";
  options.empty_hint = "The processes used no CPU. Record where they wait with -e offcpu.";
  return options;
}

bool write(const std::string& path, const Flamegraph& graph, const Profile& profile,
           const SvgOptions& options) {
  std::ofstream out(path, std::ios::binary);
  const bool is_html = path.ends_with(".html");
  return is_html ? write_html(graph, profile, options, out)
                 : write_svg(graph, profile, options, out);
}

bool write_plain(const std::string& path, const Profile& profile, const SvgOptions& options) {
  return write(path, layout_flamegraph(profile, {.sample_type = kNanoseconds}), profile, options);
}

bool write_all(const std::string& folder) {
  const Profile training = make_training_profile({});
  const Profile slower = make_training_profile({.stacks = 6000, .seed = 2, .loader_weight = 1.8});
  SvgOptions inverted = options_of("cpu");
  inverted.is_inverted = true;
  SvgOptions difference = options_of("cpu: after the change against before");
  difference.is_differential = true;
  SvgOptions hostile = options_of("</title><script>window.hacked=1</script>]]>");
  hostile.unit = "<b onload=window.hacked=1>";
  const FlamegraphOptions by_time{.sample_type = kNanoseconds};
  return write_plain(folder + "/training.svg", training, options_of("cpu: train.py")) &&
         write_plain(folder + "/training.html", training, options_of("cpu: train.py")) &&
         write_plain(folder + "/inverted.svg", training, inverted) &&
         write(folder + "/differential.svg", layout_differential(slower, training, by_time), slower,
               difference) &&
         write_plain(folder + "/hostile.svg", make_hostile_profile(), hostile) &&
         write_plain(folder + "/hostile.html", make_hostile_profile(), hostile) &&
         write_plain(folder + "/empty.svg", make_empty_profile(), options_of("cpu: sleep")) &&
         write_plain(folder + "/deep.svg", make_deep_profile(2000), options_of("deep")) &&
         write_plain(folder + "/wide.svg", make_wide_profile(100'000), options_of("wide"));
}

}  // namespace
}  // namespace lumbre::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_samples FOLDER\n");
    return 2;
  }
  return lumbre::test::write_all(argv[1]) ? 0 : 1;
}
