#include "userspace/cli/parse.h"

#include <algorithm>
#include <cstdio>

namespace lumbre {

std::optional<int> parse_options(CLI::App& app, const Arguments& arguments) {
  Arguments reversed(arguments.rbegin(), arguments.rend());  // the order that CLI11 takes
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kExitDone;
  } catch (const CLI::ParseError& problem) {
    std::string message = problem.what();
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::fprintf(stderr, "lumbre: %s; see '%s --help'\n", message.c_str(), app.get_name().c_str());
    return kExitUsage;
  }
  return std::nullopt;
}

int fail(const Error& error) {
  std::fprintf(stderr, "lumbre: %s\n", error.message.c_str());
  switch (error.kind) {
    case ErrorKind::kInvalidUsage:
      return kExitUsage;
    case ErrorKind::kPermission:
      return kExitNotPermitted;
    default:
      return kExitFailed;
  }
}

}  // namespace lumbre
