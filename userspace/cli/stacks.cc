// lumbre stacks: what every thread of some processes is doing now.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/targets.h"
#include "userspace/recording/recording.h"
#include "userspace/report/ranking.h"
#include "userspace/report/thread_stacks.h"

namespace lumbre {
namespace {

// Long enough for what runs to be sampled; what waits is looked at whatever the time.
constexpr double kLookSeconds = 0.1;
constexpr std::uint32_t kLookHz = 499;

struct StacksCommand {
  std::vector<std::string> pids;
  RecordOptions options;
  bool is_without_children = false;
  bool shows_interpreter_frames = false;
  bool is_json = false;
};

void print_group(const ThreadGroup& group) {
  const std::size_t count = group.thread_count();
  std::printf("%zu thread%s %s", count, count == 1 ? "" : "s", group.state.c_str());
  if (group.longest_wait_ns != 0) {
    std::printf(", for %s%s", group.is_older ? "more than " : count == 1 ? "" : "up to ",
                human_value(static_cast<std::int64_t>(group.longest_wait_ns), "nanoseconds").c_str());
  }
  std::printf("\n");
  for (const auto& [pid, tids] : group.threads) {
    std::printf("  %s %u:", group.process_names.at(pid).c_str(), pid);
    for (const std::uint32_t tid : tids) {
      std::printf(" %u", tid);
    }
    std::printf("\n");
  }
  for (const std::string& frame : group.frames) {
    std::printf("    %s\n", frame.c_str());
  }
  std::printf("\n");
}

void print_json(const std::vector<ThreadGroup>& groups) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ThreadGroup& group : groups) {
    nlohmann::ordered_json threads = nlohmann::ordered_json::array();
    for (const auto& [pid, tids] : group.threads) {
      for (const std::uint32_t tid : tids) {
        threads.push_back({{"pid", pid}, {"tid", tid}, {"process", group.process_names.at(pid)}});
      }
    }
    json.push_back({{"state", group.state}, {"frames", group.frames}, {"threads", threads}});
    if (group.longest_wait_ns != 0) {
      json.back()["longest_wait_s"] = static_cast<double>(group.longest_wait_ns) * 1e-9;
      json.back()["is_longer"] = group.is_older;
    }
  }
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", json.dump(2, ' ', false, replace).c_str());
}

int look(StacksCommand& command) {
  RecordOptions& options = command.options;
  options.mode = TargetMode::kProcesses;
  options.events = {LUMBRE_EVENT_CPU, LUMBRE_EVENT_OFFCPU};
  options.follows_children = !command.is_without_children;
  options.frequency_hz = kLookHz;
  options.duration_s = kLookSeconds;
  options.is_quiet = true;
  Result<std::unique_ptr<Recording>> prepared = Recording::prepare(options);
  if (!prepared.has_value()) {
    return fail(prepared.error());
  }
  Recording& recording = **prepared;
  const std::atomic<bool> stop{false};
  if (const Result<void> run = recording.run(stop); !run.has_value()) {
    return fail(run.error());
  }
  NameSources sources(recording.pipeline().modules());
  const std::vector<ThreadGroup> groups =
      group_threads(recording, sources, command.shows_interpreter_frames);
  if (command.is_json) {
    print_json(groups);
    return kExitDone;
  }
  for (const ThreadGroup& group : groups) {
    print_group(group);
  }
  return kExitDone;
}

}  // namespace

int run_stacks(const Arguments& arguments) {
  StacksCommand command;
  CLI::App app("Show what every thread is doing now: its stack, innermost first, and what it waits "
               "for. Threads with equal stacks are in one group.",
               "lumbre stacks");
  app.add_option("-p", command.pids, "Processes, with their descendants")
      ->delimiter(',')
      ->required();
  app.add_flag("--no-children", command.is_without_children,
               "Only the processes given, not their descendants");
  app.add_flag("--interpreter-frames", command.shows_interpreter_frames,
               "Show the interpreter's own frames between Python frames");
  app.add_flag("--json", command.is_json, "As JSON");
  if (const auto status = parse_options(app, arguments)) {
    return *status;
  }
  if (const auto status = resolve_pids(command.pids, command.options.pids)) {
    return *status;
  }
  return look(command);
}

}  // namespace lumbre
