#include "userspace/unwind/process_ranges.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace lumbre {
namespace {

constexpr std::uint64_t kGraceNs = 1'000'000'000;
constexpr std::size_t kSmallestRoom = 8;
constexpr std::uint32_t kExecIdMask = (1U << LUMBRE_EXEC_ID_BITS) - 1;

}  // namespace

struct ProcessRanges::FreeList {
  struct Run {
    std::uint64_t not_before_ns;
    std::size_t first;
  };
  std::map<std::size_t, std::deque<Run>> runs;  // by size
  std::size_t next = 0;                         // elements from here on were never used
  std::uint64_t now_ns = 0;
};

class ProcessRanges::Room {
 public:
  Room(std::shared_ptr<FreeList> list, std::size_t first, std::size_t size)
      : list_(std::move(list)), first_(first), size_(size) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { list_->runs[size_].push_back({list_->now_ns + kGraceNs, first_}); }
  std::size_t first() const { return first_; }

 private:
  std::shared_ptr<FreeList> list_;
  std::size_t first_;
  std::size_t size_;
};

ProcessRanges::ProcessRanges(UnwindTableStore& store, ProcessTable& processes)
    : store_(store), processes_(processes), free_(std::make_shared<FreeList>()) {}

ProcessRanges::~ProcessRanges() = default;

std::shared_ptr<ProcessRanges::Room> ProcessRanges::take_room(std::size_t elements,
                                                              std::uint64_t now_ns) {
  const std::size_t size = std::bit_ceil(std::max(elements, kSmallestRoom));
  free_->now_ns = now_ns;
  if (auto& runs = free_->runs[size]; !runs.empty() && runs.front().not_before_ns <= now_ns) {
    const std::size_t first = runs.front().first;
    runs.pop_front();
    return std::make_shared<Room>(free_, first, size);
  }
  if (size > LUMBRE_MAX_PROCESS_RANGES || free_->next + size > LUMBRE_MAX_CODE_RANGES) {
    return nullptr;
  }
  free_->next += size;
  return std::make_shared<Room>(free_, free_->next - size, size);
}

void ProcessRanges::publish(const Process& process, std::uint64_t address_space,
                            std::uint64_t exec_pages, std::uint64_t now_ns) {
  const auto exec_id = static_cast<std::uint32_t>(address_space) & kExecIdMask;
  if (const auto known = published_.find(process.pid);
      known != published_.end() && known->second.process.exec_pages == exec_pages &&
      known->second.process.exec_id == exec_id) {
    return;
  }
  std::vector<lumbre_code_range> ranges;
  for (const auto& [start, mapping] : process.mappings) {
    const auto place = processes_.locate(mapping, mapping.start);
    if (place.has_value()) {
      ranges.push_back({start, mapping.end.value, place->bias, mapping.module, 0});
    }
  }
  std::shared_ptr<Room> room = take_room(ranges.size(), now_ns);
  if (room == nullptr) {
    ++refused_;
    forget(process.pid);
    return;
  }
  std::copy(ranges.begin(), ranges.end(),
            store_.ranges().begin() + static_cast<std::ptrdiff_t>(room->first()));
  Published published;
  published.process = {exec_pages, static_cast<std::uint32_t>(room->first()),
                       static_cast<std::uint32_t>(ranges.size()), next_epoch_++, exec_id};
  published.room = std::move(room);
  if (store_.set_process(process.pid, published.process)) {
    published_.insert_or_assign(process.pid, std::move(published));
  } else {
    ++refused_;
  }
}

// The kernel has given the child what the parent had at the fork; that may have been replaced.
void ProcessRanges::inherit(std::uint32_t parent_pid, std::uint32_t child_pid) {
  if (const auto parent = published_.find(parent_pid); parent != published_.end()) {
    const Published shared = parent->second;
    if (store_.set_process(child_pid, shared.process)) {
      published_.insert_or_assign(child_pid, shared);
    }
  } else {
    forget(child_pid);
  }
}

void ProcessRanges::forget(std::uint32_t pid) {
  store_.clear_process(pid);
  published_.erase(pid);
}

void ProcessRanges::forget_all() {
  for (const auto& [pid, published] : published_) {
    store_.clear_process(pid);
  }
  published_.clear();
}

}  // namespace lumbre
