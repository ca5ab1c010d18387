// Parses one command's options by its CLI11 description; wrong usage becomes one line and status 2.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "userspace/cli/commands.h"

namespace lumbre {

// An exit status when there is nothing more to do (--help, wrong usage), else nothing.
std::optional<int> parse_options(CLI::App& app, const Arguments& arguments);

}  // namespace lumbre
