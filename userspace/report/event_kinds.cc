#include "userspace/report/event_kinds.h"

#include <algorithm>

namespace lumbre {

std::span<const EventKind> event_kinds() {
  static const std::vector<EventKind> kKinds = {
      {LUMBRE_EVENT_CPU, "cpu", "CPU time", {{"samples", "count"}, {"cpu", "nanoseconds"}}},
      {LUMBRE_EVENT_OFFCPU,
       "offcpu",
       "Waiting",
       {{"switches", "count"}, {"offcpu", "nanoseconds"}}},
  };
  return kKinds;
}

const EventKind* find_event(std::string_view name) {
  const auto kinds = event_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

const EventKind& event_kind(std::uint32_t id) {
  const auto kinds = event_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) {
    return static_cast<std::uint32_t>(kind.id) == id;
  });
  return found == kinds.end() ? kinds.front() : *found;
}

std::string event_names() {
  std::string text;
  for (const EventKind& kind : event_kinds()) {
    text += (text.empty() ? "" : ", ") + std::string(kind.name);
  }
  return text;
}

}  // namespace lumbre
