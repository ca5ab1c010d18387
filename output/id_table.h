// IdTable: finds the id of an equal entry in a table that the caller holds, by hash.
//
// Open addressing over (hash, id) pairs: a look-up costs one cache line here and one in the
// caller's table. Probing is bounded, so that a file made to collide costs bounded time; an entry
// that finds no place within the bound is not found again, which callers must bear. One thread.
#pragma once

#include <cstdint>
#include <vector>

namespace lumbre::output {

class IdTable {
 public:
  // The id of the entry for which is_equal(id) holds, or, having noted it, `new_id`.
  template <typename IsEqual>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t new_id, IsEqual is_equal) {
    if (size_ * 2 >= slots_.size()) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = place(tag);
    for (std::size_t i = 0; i < kMaximumProbes; ++i, at = next(at)) {
      if (slots_[at].id == kEmpty) {
        slots_[at] = {tag, new_id};
        ++size_;
        break;
      }
      if (slots_[at].tag == tag && is_equal(slots_[at].id)) return slots_[at].id;
    }
    return new_id;
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  static constexpr std::size_t kMaximumProbes = 128;
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t id = kEmpty;
  };

  std::size_t place(std::uint32_t tag) const { return tag & (slots_.size() - 1); }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.id != kEmpty) {
        find_or_add(std::uint64_t{slot.tag} << 32, slot.id, [](std::uint32_t) { return false; });
      }
    }
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t size_ = 0;
};

}  // namespace lumbre::output
