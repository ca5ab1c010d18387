// LabelTable: interned sets of labels (key and text or number). Keys are open-ended. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lumbre {

struct LabelValue {
  std::string key;
  std::string text;         // a text label, or
  std::int64_t number = 0;  // a number label (text empty)
  auto operator<=>(const LabelValue&) const = default;
};

using LabelSet = std::vector<LabelValue>;  // in the order in which they were put
using LabelSetId = std::uint32_t;

class LabelTable {
 public:
  LabelSetId intern(const LabelSet& set) {
    const auto [at, is_new] = ids_.try_emplace(set, static_cast<LabelSetId>(sets_.size()));
    if (is_new) {
      sets_.push_back(&at->first);
    }
    return at->second;
  }
  const LabelSet& at(LabelSetId id) const { return *sets_[id]; }
  std::size_t size() const { return sets_.size(); }

 private:
  std::map<LabelSet, LabelSetId> ids_;
  std::vector<const LabelSet*> sets_;
};

}  // namespace lumbre
