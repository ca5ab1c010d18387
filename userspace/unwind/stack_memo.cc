#include "userspace/unwind/stack_memo.h"

namespace lumbre {
namespace {

class Hasher {
 public:
  void add(std::uint64_t value) {
    low_ = (low_ ^ value) * 0x9e3779b97f4a7c15ULL;
    low_ ^= low_ >> 32;
    high_ = (high_ + value) * 0xc2b2ae3d27d4eb4fULL;
    high_ ^= high_ >> 29;
  }
  StackMemo::Key key() const { return {low_, high_}; }

 private:
  std::uint64_t low_ = 0x243f6a8885a308d3ULL;
  std::uint64_t high_ = 0x13198a2e03707344ULL;
};

}  // namespace

StackMemo::Key StackMemo::key_of(const StackSample& sample, std::uint64_t mappings) {
  Hasher hasher;
  hasher.add(sample.sample.task.address_space);
  hasher.add(mappings);
  hasher.add(sample.kernel_stack.size() << 32 | sample.native.size());
  for (const std::uint64_t address : sample.kernel_stack) {
    hasher.add(address);
  }
  for (const lumbre_native_frame& frame : sample.native) {
    hasher.add(frame.pc);
  }
  hasher.add(sample.sample.python_end);
  for (const lumbre_python_frame& frame : sample.python) {
    hasher.add(frame.code);
    hasher.add(frame.instruction);
    hasher.add(frame.check + (frame.boundary != 0 ? 1 : 0));
  }
  return hasher.key();
}

std::optional<StackMemo::Entry> StackMemo::find(const Key& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

void StackMemo::add(const Key& key, const Entry& entry) {
  if (entries_.size() >= kMostEntries) {
    entries_.clear();
  }
  entries_.insert_or_assign(key, entry);
}

}  // namespace lumbre
