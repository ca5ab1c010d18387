// lumbre flamegraph: draws recordings or profiles, or the difference of two.
#include <cstdio>

#include "userspace/cli/commands.h"
#include "userspace/cli/merge.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/profile_file.h"

namespace lumbre {
namespace {

struct FlamegraphCommand {
  std::vector<std::string> inputs;
  std::string output = "flamegraph.svg";
  std::string event = "cpu";
  std::string metric;
  std::string base;
  std::string title;
  bool is_inverted = false;
};

Result<void> draw(const FlamegraphCommand& command) {
  const auto format = command.output == "-" ? FileFormat::kSvg : format_of(command.output);
  if (format != FileFormat::kSvg && format != FileFormat::kHtml) {
    return Error::usage("cannot draw to " + command.output +
                        ": the name must end in .svg or .html");
  }
  LUMBRE_TRY_ASSIGN(const output::Profile profile, read_merged(command.inputs, command.event));
  DrawOptions options;
  options.metric = command.metric;
  options.is_inverted = command.is_inverted;
  options.title = command.title.empty() ? command.inputs.front() : command.title;
  std::optional<output::Profile> base;
  if (!command.base.empty()) {
    LUMBRE_TRY_ASSIGN(base, read_profile(command.base, command.event));
    options.base = &*base;
    if (command.title.empty()) {
      options.title = command.inputs.front() + " against " + command.base;
    }
  }
  return write_profile(profile, *format, command.output, options);
}

}  // namespace

int run_flamegraph(const Arguments& arguments) {
  FlamegraphCommand command;
  CLI::App app("Draw a flame graph of recordings or profiles.", "lumbre flamegraph");
  app.add_option("INPUT", command.inputs,
                 "Recording folders, pprof files or folded stacks; several are added up")
      ->required();
  app.add_option("-o", command.output, "The file to write, .svg or .html ('-': stdout)")
      ->capture_default_str();
  app.add_option("--event", command.event, "The event of a recording folder")
      ->capture_default_str();
  app.add_option("--metric", command.metric, "The sample type to draw (default: the profile's)");
  app.add_option("--base", command.base, "Draw the difference to this one: red grew, blue shrank");
  app.add_flag("--inverted", command.is_inverted, "Root at the top");
  app.add_option("--title", command.title, "The picture's title");
  if (const auto status = parse_options(app, arguments)) {
    return *status;
  }
  if (const Result<void> drawn = draw(command); !drawn.has_value()) {
    return fail(drawn.error());
  }
  if (command.output != "-") {
    std::fprintf(stderr, "%s\n", command.output.c_str());
  }
  return kExitDone;
}

}  // namespace lumbre
