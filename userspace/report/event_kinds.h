// The events that this version records: the contract's EVENT with its sample types and titles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/abi/events.h"

namespace lumbre {

struct ValueKind {
  std::string_view type;
  std::string_view unit;
};

struct EventKind {
  lumbre_event id;
  std::string_view name;
  std::string_view title;          // of its flame graph
  std::vector<ValueKind> values;  // the sample types; the last is the default one
};

std::span<const EventKind> event_kinds();
// Null where there is none of that name.
const EventKind* find_event(std::string_view name);
const EventKind& event_kind(std::uint32_t id);
// "cpu, offcpu"
std::string event_names();

}  // namespace lumbre
