#include "userspace/report/ranking.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "output/frame_kinds.h"

namespace lumbre {
namespace {

using output::FrameKind;
using output::Location;
using output::Profile;

struct Key {
  std::string name;
  std::string place;
  auto operator<=>(const Key&) const = default;
};

std::string label_text(const Profile& profile, const output::Sample& sample, std::string_view key) {
  for (const output::Label& label : sample.labels) {
    if (profile.text(label.key) == key) {
      return label.text != 0 ? profile.text(label.text) : std::to_string(label.number);
    }
  }
  return "";
}

std::string module_of(const Profile& profile, const Location& location) {
  return location.mapping == output::kNone
             ? ""
             : profile.text(profile.mappings[location.mapping].filename);
}

std::string unnamed(const Profile& profile, const Location& location) {
  char text[32];
  std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(location.address));
  const std::string module = module_of(profile, location);
  return module.substr(module.rfind('/') + 1) + text;
}

// The keys of one location, innermost inlined function first.
std::vector<Key> frame_keys(const Profile& profile, const Location& location, RankBy by) {
  const std::string module = module_of(profile, location);
  if (by == RankBy::kModule) {
    return {{module.empty() ? "[no module]" : module, ""}};
  }
  std::vector<Key> keys;
  for (const output::Line& line : location.lines) {
    const output::Function& function = profile.functions[line.function];
    const std::string file = profile.text(function.filename);
    const std::string& name = profile.text(function.name);
    if (by == RankBy::kFile) {
      keys.push_back({!file.empty() ? file : module.empty() ? name : module, ""});
    } else if (by == RankBy::kLine) {
      const std::string place = file.empty() ? module : file + ":" + std::to_string(line.line);
      keys.push_back({name, place});
    } else {
      keys.push_back({name, file.empty() ? module : file});
    }
  }
  if (keys.empty()) {
    keys.push_back({by == RankBy::kFile ? module : unnamed(profile, location), module});
  }
  return keys;
}

bool is_unnamed(const Profile& profile, const output::Sample& sample) {
  if (sample.locations.empty()) {
    return true;
  }
  const Location& leaf = profile.locations[sample.locations.front()];
  return leaf.lines.empty() || leaf.kind == FrameKind::kUnknown ||
         leaf.kind == FrameKind::kTruncated || output::is_unnamed_jit(profile, leaf);
}

void add_sample(const Profile& profile, const output::Sample& sample, std::int64_t value, RankBy by,
                std::map<Key, RankRow>& rows) {
  if (by == RankBy::kThread || by == RankBy::kProcess) {
    const bool is_thread = by == RankBy::kThread;
    const Key key{
        label_text(profile, sample, is_thread ? "thread" : "process"),
        (is_thread ? "tid " : "pid ") + label_text(profile, sample, is_thread ? "tid" : "pid")};
    rows[key].self += value;
    rows[key].total += value;
    return;
  }
  std::set<Key> seen;
  bool is_leaf = true;
  for (const output::LocationId id : sample.locations) {
    for (Key& key : frame_keys(profile, profile.locations[id], by)) {
      if (is_leaf) {
        rows[key].self += value;
        is_leaf = false;
      }
      if (seen.insert(key).second) {
        rows[key].total += value;
      }
    }
  }
}

}  // namespace

std::optional<RankBy> parse_rank_by(std::string_view name) {
  static const std::map<std::string_view, RankBy> kNames = {
      {"function", RankBy::kFunction}, {"line", RankBy::kLine},     {"file", RankBy::kFile},
      {"module", RankBy::kModule},     {"thread", RankBy::kThread}, {"process", RankBy::kProcess}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

Ranking rank(const Profile& profile, std::uint32_t metric, RankBy by) {
  Ranking ranking;
  std::map<Key, RankRow> rows;
  for (const output::Sample& sample : profile.samples) {
    const std::int64_t value = sample.values[metric];
    ranking.sum += value;
    ranking.unattributed += is_unnamed(profile, sample) ? value : 0;
    add_sample(profile, sample, value, by, rows);
  }
  for (auto& [key, row] : rows) {
    row.name = key.name;
    row.place = key.place;
    ranking.rows.push_back(std::move(row));
  }
  std::stable_sort(ranking.rows.begin(), ranking.rows.end(), [](const auto& a, const auto& b) {
    return a.self != b.self ? a.self > b.self : a.total > b.total;
  });
  return ranking;
}

std::string human_value(std::int64_t value, const std::string& unit) {
  char text[64];
  const auto number = static_cast<double>(value);
  if (unit == "nanoseconds") {
    if (number >= 1e9) {
      std::snprintf(text, sizeof(text), "%.2f s", number * 1e-9);
    } else {
      std::snprintf(text, sizeof(text), "%.1f ms", number * 1e-6);
    }
  } else if (unit == "bytes") {
    std::snprintf(text, sizeof(text), "%.1f MiB", number / (1 << 20));
  } else {
    std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(value));
  }
  return text;
}

}  // namespace lumbre
