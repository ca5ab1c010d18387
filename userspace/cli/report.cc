// lumbre report: the hottest functions, lines, files, modules, threads or processes.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "userspace/cli/commands.h"
#include "userspace/cli/parse.h"
#include "userspace/cli/profile_file.h"
#include "userspace/report/ranking.h"

namespace lumbre {
namespace {

struct ReportCommand {
  std::string input;
  std::string event = "cpu";
  std::string metric;
  std::string by = "function";
  std::size_t limit = 10;
  bool is_json = false;
};

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void print_table(const Ranking& ranking, const std::string& unit, const ReportCommand& command) {
  std::printf("%10s %7s %10s %7s  %s\n", "self", "", "total", "", command.by.c_str());
  std::size_t printed = 0;
  for (const RankRow& row : ranking.rows) {
    if (printed++ == command.limit) {
      break;
    }
    std::printf("%10s %6.2f%% %10s %6.2f%%  %s%s%s\n", human_value(row.self, unit).c_str(),
                100 * share(row.self, ranking.sum), human_value(row.total, unit).c_str(),
                100 * share(row.total, ranking.sum), row.name.c_str(),
                row.place.empty() ? "" : "  ", row.place.c_str());
  }
  std::printf("%10s          in all; %.2f%% of it with no name for what ran\n",
              human_value(ranking.sum, unit).c_str(),
              100 * share(ranking.unattributed, ranking.sum));
}

void print_json(const Ranking& ranking, const output::Profile& profile, std::uint32_t metric,
                const ReportCommand& command) {
  nlohmann::ordered_json json;
  json["metric"] = profile.text(profile.sample_types[metric].type);
  json["unit"] = profile.text(profile.sample_types[metric].unit);
  json["by"] = command.by;
  json["total"] = ranking.sum;
  json["unattributed"] = ranking.unattributed;
  json["rows"] = nlohmann::ordered_json::array();
  for (const RankRow& row : ranking.rows) {
    if (json["rows"].size() == command.limit) {
      break;
    }
    json["rows"].push_back({{"name", row.name},
                            {"place", row.place},
                            {"self", row.self},
                            {"total", row.total},
                            {"self_share", share(row.self, ranking.sum)},
                            {"total_share", share(row.total, ranking.sum)}});
  }
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::printf("%s\n", json.dump(2, ' ', false, replace).c_str());
}

Result<void> report(const ReportCommand& command) {
  const std::optional<RankBy> by = parse_rank_by(command.by);
  if (!by.has_value()) {
    return Error::usage("cannot rank by '" + command.by +
                        "'; give function, line, file, module, thread or process");
  }
  LUMBRE_TRY_ASSIGN(const output::Profile profile, read_profile(command.input, command.event));
  LUMBRE_TRY_ASSIGN(const std::uint32_t metric, find_metric(profile, command.metric));
  const Ranking ranking = rank(profile, metric, *by);
  if (command.is_json) {
    print_json(ranking, profile, metric, command);
  } else {
    print_table(ranking, profile.text(profile.sample_types[metric].unit), command);
  }
  return {};
}

}  // namespace

int run_report(const Arguments& arguments) {
  ReportCommand command;
  CLI::App app("List where the time (or another metric) goes.", "lumbre report");
  app.add_option("INPUT", command.input, "A recording folder, a pprof file or folded stacks")
      ->required();
  app.add_option("--event", command.event, "The event of a recording folder")
      ->capture_default_str();
  app.add_option("--metric", command.metric, "The sample type (default: the profile's)");
  app.add_option("--by", command.by, "function, line, file, module, thread or process")
      ->capture_default_str();
  app.add_option("--limit", command.limit, "Rows to print")->capture_default_str();
  app.add_flag("--json", command.is_json, "As JSON");
  if (const auto status = parse_options(app, arguments)) {
    return *status;
  }
  const Result<void> reported = report(command);
  return reported.has_value() ? kExitDone : fail(reported.error());
}

}  // namespace lumbre
