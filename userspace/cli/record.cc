// lumbre record: attach, record, write.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <set>

#include "userspace/cli/commands.h"
#include "userspace/cli/output_file.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/profile_file.h"
#include "userspace/cli/targets.h"
#include "userspace/recording/recording.h"
#include "userspace/report/event_kinds.h"
#include "userspace/report/recording_files.h"
#include "userspace/report/summary.h"

namespace lumbre {
namespace {

struct RecordCommand {
  RecordOptions options;
  std::vector<std::string> pids;
  std::vector<std::string> events = {"cpu"};
  std::string output;
  bool is_whole_machine = false;
  bool is_forced = false;
  bool shows_interpreter_frames = false;
  bool is_without_children = false;
  bool is_copying_stacks = false;
};

std::atomic<bool> stop_requested{false};

extern "C" void request_stop(int signal_number) {
  if (stop_requested.exchange(true)) {
    ::signal(signal_number, SIG_DFL);  // the second one gives up
    ::raise(signal_number);
  }
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = request_stop;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

std::string default_folder() {
  const std::time_t now = ::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[64];
  std::strftime(text, sizeof(text), "lumbre-%Y%m%dT%H%M%SZ", &parts);
  return text;
}

// Fills options.events, in the order of the contract.
Result<void> resolve_events(RecordCommand& command) {
  std::set<std::uint32_t> events;
  for (const std::string& name : command.events) {
    const EventKind* kind = find_event(name);
    if (kind == nullptr && name != "all") {
      return Error::usage("cannot record the event '" + name + "': this version records " +
                          event_names());
    }
    for (const EventKind& known : event_kinds()) {
      if (kind == nullptr || known.id == kind->id) {
        events.insert(known.id);
      }
    }
  }
  command.options.events.assign(events.begin(), events.end());
  if (events.size() > 1 && (command.output == "-" || !is_folder_name(command.output))) {
    return Error::usage("cannot write several events to " + command.output +
                        ": give a folder (a name without a dot), or one event");
  }
  return {};
}

Result<void> check_usage(RecordCommand& command) {
  const int targets = (command.pids.empty() ? 0 : 1) + (command.is_whole_machine ? 1 : 0) +
                      (command.options.command.empty() ? 0 : 1);
  if (targets != 1) {
    return Error::usage("give one of -p PID, -a or -- COMMAND to say what to record");
  }
  LUMBRE_TRY(resolve_events(command));
  if (command.options.frequency_hz == 0 || command.options.frequency_hz > 10000) {
    return Error::usage("-F takes 1 to 10000 samples per second");
  }
  if (command.output != "-" && !is_folder_name(command.output) &&
      !format_of(command.output).has_value()) {
    return Error::usage("cannot record to " + command.output +
                        ": give a name without a dot (a folder), or one that ends in .pb.gz, "
                        ".svg, .folded, .speedscope.json or .html");
  }
  if (command.output != "-" && path_exists(command.output) && !command.is_forced) {
    return Error{ErrorKind::kSystem, EEXIST,
                 "cannot record to " + command.output +
                     ": it exists already; give --force to replace it, or another -o"};
  }
  const std::uint32_t ring = command.options.ring_bytes;
  if (ring < 4096 || (ring & (ring - 1)) != 0) {
    return Error::usage("--ring-bytes takes a power of two of at least 4096");
  }
  return {};
}

Result<void> write_event(const std::string& folder, const RecordCommand& command,
                         Recording& recording, const BuiltProfile& built) {
  DrawOptions draw;
  draw.title = title_of(command.options, built.event);
  const std::string path = folder + "/" + std::string(event_kind(built.event).name);
  LUMBRE_TRY(write_profile(built.profile, FileFormat::kPprof, path + ".pb.gz", draw));
  // While recording, the rest waits: from these files Lumbre draws it.
  if (!recording.facts().is_complete) {
    return {};
  }
  LUMBRE_TRY(write_profile(built.profile, FileFormat::kSvg, path + ".svg", draw));
  if (built.event == LUMBRE_EVENT_CPU) {
    LUMBRE_TRY(write_output_file(folder + "/timeline.pftrace", [&](std::ostream& out) {
      return write_timeline(recording, built, out);
    }));
  }
  return {};
}

bool has_wall(const RecordCommand& command) {
  return command.options.has_event(LUMBRE_EVENT_CPU) &&
         command.options.has_event(LUMBRE_EVENT_OFFCPU);
}

Result<void> write_wall(const std::string& folder, const RecordCommand& command,
                        Recording& recording, NameSources& sources) {
  const BuiltProfile wall =
      build_wall_profile(recording, sources, command.shows_interpreter_frames);
  DrawOptions draw;
  draw.title = "Time" + target_of(command.options) + ", running and waiting";
  return write_profile(wall.profile, FileFormat::kSvg, folder + "/wall.svg", draw);
}

Result<void> write_files(const std::string& folder, const RecordCommand& command,
                         Recording& recording, NameSources& sources,
                         const std::vector<BuiltProfile>& built) {
  for (const BuiltProfile& profile : built) {
    LUMBRE_TRY(write_event(folder, command, recording, profile));
  }
  if (has_wall(command) && recording.facts().is_complete) {
    LUMBRE_TRY(write_wall(folder, command, recording, sources));
  }
  recording.update_own_cost();
  const std::string summary = summary_json(recording.facts(), recording.pipeline(), built);
  return write_output_file(folder + "/summary.json",
                           [&](std::ostream& out) { return static_cast<bool>(out << summary); });
}

Result<void> write_folder(const RecordCommand& command, Recording& recording,
                          NameSources& sources, const std::vector<BuiltProfile>& built) {
  const bool is_new = !path_exists(command.output);
  if (is_new) {
    LUMBRE_TRY(make_output_folder(command.output));
  }
  Result<void> written = write_files(command.output, command, recording, sources, built);
  if (!written.has_value() && is_new) {
    remove_output_folder(command.output);
  }
  return written;
}

std::vector<BuiltProfile> build_profiles(const RecordCommand& command, Recording& recording,
                                         NameSources& sources) {
  std::vector<BuiltProfile> built;
  for (const std::uint32_t event : command.options.events) {
    built.push_back(
        build_event_profile(recording, sources, event, command.shows_interpreter_frames));
  }
  return built;
}

Result<void> write_output(RecordCommand& command, Recording& recording, NameSources& sources,
                          const std::vector<BuiltProfile>& built) {
  if (is_folder_name(command.output)) {
    return write_folder(command, recording, sources, built);
  }
  DrawOptions draw;
  draw.title = title_of(command.options, built.front().event);
  const FileFormat format = format_of(command.output).value_or(FileFormat::kPprof);
  return write_profile(built.front().profile, format, command.output, draw);
}

void print_result(const RecordCommand& command, Recording& recording,
                  const std::vector<BuiltProfile>& built) {
  if (command.options.is_quiet) {
    return;
  }
  recording.update_own_cost();
  std::fputs(summary_text(recording.facts(), recording.pipeline(), built).c_str(), stderr);
  if (is_folder_name(command.output)) {
    std::string files;
    for (const BuiltProfile& profile : built) {
      const std::string name(event_kind(profile.event).name);
      files += name + ".svg (flame graph), " + name + ".pb.gz (pprof), ";
      files += profile.event == LUMBRE_EVENT_CPU ? "timeline.pftrace (Perfetto), " : "";
    }
    files += has_wall(command) ? "wall.svg (both in one), " : "";
    std::fprintf(stderr, "%s/: %ssummary.json\n", command.output.c_str(), files.c_str());
  } else if (command.output != "-") {
    std::fprintf(stderr, "%s\n", command.output.c_str());
  }
}

int command_exit_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// Saves what there is while recording goes on. Only where nothing older can be harmed by it.
void save_checkpoint(RecordCommand& command, Recording& recording, NameSources& sources) {
  const std::vector<BuiltProfile> built = build_profiles(command, recording, sources);
  static_cast<void>(write_output(command, recording, sources, built));  // the end will tell what failed
}

int record(RecordCommand& command) {
  const bool has_command = command.options.mode == TargetMode::kCommand;
  catch_signals();
  Result<std::unique_ptr<Recording>> prepared = Recording::prepare(command.options);
  if (!prepared.has_value()) {
    const int status = fail(prepared.error());
    return has_command ? kExitLumbreFailed : status;
  }
  Recording& recording = **prepared;
  NameSources sources(recording.pipeline().modules());
  if (command.output != "-" && !path_exists(command.output)) {
    recording.on_checkpoint([&] { save_checkpoint(command, recording, sources); });
  }
  if (const Result<void> run = recording.run(stop_requested); !run.has_value()) {
    const int status = fail(run.error());
    if (!has_command) {
      return status;
    }
    return run.error().system_errno == ENOENT ? 127 : 126;
  }
  const std::vector<BuiltProfile> built = build_profiles(command, recording, sources);
  const Result<void> written = write_output(command, recording, sources, built);
  if (!written.has_value()) {
    const int status = fail(written.error());
    return has_command ? kExitLumbreFailed : status;
  }
  print_result(command, recording, built);
  return has_command ? command_exit_status(recording.command_status()) : kExitDone;
}

void describe_options(CLI::App& app, RecordCommand& command) {
  app.add_option("-p", command.pids, "Processes to attach to, with their descendants")
      ->delimiter(',');
  app.add_flag("-a", command.is_whole_machine, "The whole machine");
  app.add_option("-e", command.events, "Events to record: " + event_names() + ", or all")->delimiter(',');
  app.add_option("-F", command.options.frequency_hz, "Samples per second and CPU")
      ->capture_default_str();
  app.add_option("-d", command.options.duration_s,
                 "Seconds to record (default: until the target ends, or Ctrl-C)")
      ->check(CLI::PositiveNumber);
  app.add_option("-o", command.output,
                 "A folder (a name without a dot), or one file: .pb.gz, .svg, .folded, "
                 ".speedscope.json, .html; '-': pprof on stdout");
  app.add_flag("--force", command.is_forced, "Replace an existing output");
  app.add_flag("--no-children", command.is_without_children,
               "Only the processes given, not their descendants");
  app.add_flag("--interpreter-frames", command.shows_interpreter_frames,
               "Show the interpreter's own frames between Python frames");
  app.add_option("--budget", command.options.budget_percent,
                 "Per cent of one CPU that sampling the stacks of waits may cost")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 100.0));
  app.add_flag("--wakers", command.options.takes_wakers,
               "With offcpu: put the stack of the thread that ended a long wait on top of it");
  app.add_option("--stack-depth", command.options.max_stack_frames, "Native frames per stack")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  app.add_flag("--copy-stacks", command.is_copying_stacks,
               "Copy every stack and walk it outside the kernel (slower; to compare)");
  app.add_option("--self-check", command.options.self_check_one_in,
                 "Walk one of N stacks a second time outside the kernel and compare; 0: none")
      ->capture_default_str();
  app.add_option("--ring-bytes", command.options.ring_bytes,
                 "Size of the buffer between kernel and Lumbre, a power of two")
      ->capture_default_str();
  app.add_option("--max-size", command.options.max_bytes,
                 "Memory for samples with their times (K, M, G); the totals go on beyond it")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_flag("-q", command.options.is_quiet, "Say nothing but errors");
}

}  // namespace

int run_record(const Arguments& arguments) {
  RecordCommand command;
  CLI::App app("Record what processes do: lumbre record -p PID | -a | -- COMMAND [ARG...]",
               "lumbre record");
  describe_options(app, command);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  if (const auto status = parse_options(app, Arguments(arguments.begin(), separator))) {
    return *status;
  }
  if (separator != arguments.end()) {
    command.options.command.assign(separator + 1, arguments.end());
  }
  if (command.output.empty()) {
    command.output = default_folder();
  }
  while (command.output.size() > 1 && command.output.ends_with('/')) {
    command.output.pop_back();
  }
  if (const Result<void> usage = check_usage(command); !usage.has_value()) {
    return fail(usage.error());
  }
  command.options.mode = command.is_whole_machine          ? TargetMode::kWholeMachine
                         : command.options.command.empty() ? TargetMode::kProcesses
                                                           : TargetMode::kCommand;
  command.options.follows_children = !command.is_without_children;
  command.options.walks_in_kernel = !command.is_copying_stacks;
  if (const auto status = resolve_pids(command.pids, command.options.pids)) {
    return *status;
  }
  return record(command);
}

}  // namespace lumbre
