// Ranking: where the values of a profile go, by function, line, file, module, thread or process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/profile.h"

namespace lumbre {

enum class RankBy { kFunction, kLine, kFile, kModule, kThread, kProcess };
std::optional<RankBy> parse_rank_by(std::string_view name);

struct RankRow {
  std::string name;
  std::string place;       // file:line or module, where `name` alone does not say it
  std::int64_t self = 0;   // where it was the innermost
  std::int64_t total = 0;  // where it was anywhere in the stack
};

struct Ranking {
  std::vector<RankRow> rows;      // by self, then total, falling
  std::int64_t sum = 0;           // of all samples
  std::int64_t unattributed = 0;  // whose innermost frame has no name
};

Ranking rank(const output::Profile& profile, std::uint32_t metric, RankBy by);

// "1.234 s", "12.3 MiB" or a plain number, by the unit.
std::string human_value(std::int64_t value, const std::string& unit);

}  // namespace lumbre
