// Parses the command's name, dispatches, returns its exit status.
#include <cstdio>
#include <string_view>

#include "symbolizer/base/mapped_file.h"
#include "userspace/cli/commands.h"
#include "userspace/version.h"

namespace {

struct Command {
  std::string_view name;
  int (*run)(const lumbre::Arguments&);
  const char* purpose;
};

constexpr Command kCommands[] = {
    {"record", lumbre::run_record, "record what a process, a command or the whole machine does"},
    {"flamegraph", lumbre::run_flamegraph, "draw a flame graph of a recording or profile"},
    {"report", lumbre::run_report, "list the hottest functions, lines, files, threads"},
    {"convert", lumbre::run_convert, "write a profile in another format"},
    {"stacks", lumbre::run_stacks, "show what every thread of a process is doing now"},
    {"doctor", lumbre::run_doctor, "what this machine allows, what is missing, what to do"},
};

void print_help(std::FILE* out) {
  std::fputs("Usage: lumbre COMMAND [OPTION...]\n\nCommands:\n", out);
  for (const Command& command : kCommands) {
    std::fprintf(out, "  %-12s%s\n", command.name.data(), command.purpose);
  }
  std::fputs("\n'lumbre COMMAND --help' explains one. 'lumbre --version' tells the version.\n",
             out);
}

}  // namespace

int main(int argc, char** argv) {
  lumbre::install_sigbus_guard();
  if (argc < 2) {
    print_help(stderr);
    return lumbre::kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--version") {
    std::printf("lumbre %s\n", lumbre::kVersion);
    return lumbre::kExitDone;
  }
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return lumbre::kExitDone;
  }
  for (const Command& command : kCommands) {
    if (command.name == name) {
      return command.run(lumbre::Arguments(argv + 2, argv + argc));
    }
  }
  std::fprintf(stderr, "lumbre: no command '%s'; see 'lumbre --help'\n", argv[1]);
  return lumbre::kExitUsage;
}
