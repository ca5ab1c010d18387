// lumbre convert: a profile in another format; the format follows the file's ending.
#include <cstdio>

#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/profile_file.h"

namespace lumbre {
namespace {

struct ConvertCommand {
  std::string input;
  std::string output;
  std::string event = "cpu";
  std::string metric;
};

Result<void> convert(const ConvertCommand& command) {
  const auto format = command.output == "-" ? FileFormat::kFolded : format_of(command.output);
  if (!format.has_value()) {
    return Error::usage("cannot tell the format of " + command.output +
                        ": the name must end in .pb.gz, .folded, .speedscope.json, .svg or .html");
  }
  LUMBRE_TRY_ASSIGN(const output::Profile profile, read_profile(command.input, command.event));
  DrawOptions options;
  options.metric = command.metric;
  options.title = command.input;
  return write_profile(profile, *format, command.output, options);
}

}  // namespace

int run_convert(const Arguments& arguments) {
  ConvertCommand command;
  CLI::App app("Write a profile in another format.", "lumbre convert");
  app.add_option("INPUT", command.input, "A recording folder, a pprof file or folded stacks")
      ->required();
  app.add_option("-o", command.output,
                 "The file to write: .pb.gz, .folded, .speedscope.json, .svg, .html "
                 "('-': folded stacks on stdout)")
      ->required();
  app.add_option("--event", command.event, "The event of a recording folder")
      ->capture_default_str();
  app.add_option("--metric", command.metric,
                 "The sample type, for formats that hold one (default: the profile's)");
  if (const auto status = parse_options(app, arguments)) {
    return *status;
  }
  const Result<void> converted = convert(command);
  return converted.has_value() ? kExitDone : fail(converted.error());
}

}  // namespace lumbre
