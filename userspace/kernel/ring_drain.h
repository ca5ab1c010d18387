// RingDrain: empties the ring buffer of the kernel programs from a thread of its own, so that it
// does not fill up while the rest of Lumbre opens files or writes a checkpoint.
//
// take() and poll_fd() belong to the thread that made it. Bounded: when kMostWaitingBytes wait to
// be taken the ring is left alone, and what finds no room there is counted by the kernel programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

struct ring_buffer;

namespace lumbre {

class RingDrain {
 public:
  static constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20;

  // `map_fd` of the ring buffer map, borrowed.
  static Result<std::unique_ptr<RingDrain>> start(int map_fd);
  ~RingDrain();
  RingDrain(const RingDrain&) = delete;
  RingDrain& operator=(const RingDrain&) = delete;

  // Hands over every record that was sent before the call; the bytes are valid during it.
  using RecordCallback = std::function<void(std::span<const std::byte>)>;
  void take(const RecordCallback& callback);
  // Readable when there is something to take.
  int poll_fd() const { return ready_.get(); }

 private:
  RingDrain() = default;
  static int on_record(void* context, void* data, std::size_t size);
  void run(const std::stop_token& stop);
  void drain();
  bool swap();

  ring_buffer* ring_ = nullptr;
  UniqueFd ready_;  // eventfd(2)
  UniqueFd stop_;
  std::mutex mutex_;  // held while the ring is read: it has one reader at a time
  std::vector<std::byte> waiting_;
  std::vector<std::byte> taken_;
  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace lumbre
