#include "userspace/report/waits_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "userspace/report/ranking.h"

namespace lumbre {
namespace {

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns / 1000) / 1e6;
}

nlohmann::ordered_json thread_json(const ThreadTime& time) {
  const lumbre_task& task = time.task;
  const bool is_visible = task.visible_pid != 0;
  nlohmann::ordered_json json = {{"pid", is_visible ? task.visible_pid : task.host_pid},
                                 {"tid", is_visible ? task.visible_tid : task.host_tid},
                                 {"process", task.process_name},
                                 {"thread", task.thread_name},
                                 {"elapsed_s", seconds(time.elapsed_ns)},
                                 {"run_s", seconds(time.run_ns)}};
  std::uint64_t switches = 0;
  json["wait_s"] = nlohmann::ordered_json::object();
  for (std::uint32_t wait = 0; wait < LUMBRE_WAIT_COUNT; ++wait) {
    if (time.waits[wait].ns != 0) {
      json["wait_s"][wait_name(wait)] = seconds(time.waits[wait].ns);
    }
    switches += time.waits[wait].count;
  }
  json["waits"] = switches;
  return json;
}

}  // namespace

nlohmann::ordered_json waits_json(const OffCpuCollector& offcpu) {
  nlohmann::ordered_json json;
  json["open_at_begin"] = offcpu.open_at_begin();
  json["open_at_end"] = offcpu.open_at_end();
  json["threads"] = nlohmann::ordered_json::array();
  for (const ThreadTime& time : offcpu.threads()) {
    json["threads"].push_back(thread_json(time));
  }
  return json;
}

std::string waits_text(const OffCpuCollector& offcpu) {
  std::array<std::uint64_t, LUMBRE_WAIT_COUNT> sums{};
  for (const ThreadTime& time : offcpu.threads()) {
    for (std::uint32_t wait = 0; wait < LUMBRE_WAIT_COUNT; ++wait) {
      sums[wait] += time.waits[wait].ns;
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint32_t wait = 0; wait < LUMBRE_WAIT_COUNT; ++wait) {
    if (sums[wait] != 0) {
      order.emplace_back(sums[wait], wait);
    }
  }
  std::sort(order.rbegin(), order.rend());
  std::string text;
  for (const auto& [ns, wait] : order) {
    text += (text.empty() ? "  waited for: " : ", ") + std::string(wait_name(wait)) + " " +
            human_value(static_cast<std::int64_t>(ns), "nanoseconds");
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace lumbre
