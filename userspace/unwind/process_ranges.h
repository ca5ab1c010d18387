// ProcessRanges: tells the walk in the kernel which files a process executes, and where.
//
// A process's ranges hold for one amount of executable memory, which the sample says that asked for
// them; when that has changed, the process is walked in user space until its ranges are set anew.
// Forked children share their parent's. Room that was given up is used again after a grace, in
// which no kernel program can still be reading it. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>

#include "userspace/process/process_table.h"
#include "userspace/unwind/unwind_table_store.h"

namespace lumbre {

class ProcessRanges {
 public:
  ProcessRanges(UnwindTableStore& store, ProcessTable& processes);
  ~ProcessRanges();

  // `address_space` and `exec_pages` as a sample has them whose mappings `process` are.
  void publish(const Process& process, std::uint64_t address_space, std::uint64_t exec_pages,
               std::uint64_t now_ns);
  void inherit(std::uint32_t parent_pid, std::uint32_t child_pid);
  void forget(std::uint32_t pid);
  void forget_all();

  std::uint64_t refused_count() const { return refused_; }  // for want of room

 private:
  class Room;
  struct Published {
    lumbre_native_process process{};
    std::shared_ptr<Room> room;
  };
  std::shared_ptr<Room> take_room(std::size_t elements, std::uint64_t now_ns);

  // Runs of free elements; sizes are powers of two, so that a run fits the next taker.
  struct FreeList;

  UnwindTableStore& store_;
  ProcessTable& processes_;
  std::shared_ptr<FreeList> free_;
  std::unordered_map<std::uint32_t, Published> published_;
  std::uint32_t next_epoch_ = 1;
  std::uint64_t refused_ = 0;
};

}  // namespace lumbre
