// StringInterner: equal strings get equal small ids; an id stays valid for the interner's life.
// One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace lumbre {

class StringInterner {
 public:
  std::uint32_t intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) {
      return found->second;
    }
    const auto id = static_cast<std::uint32_t>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  const std::string& text(std::uint32_t id) const { return texts_[id]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque keeps the strings where the map's keys point
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace lumbre
