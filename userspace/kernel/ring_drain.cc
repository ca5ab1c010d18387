#include "userspace/kernel/ring_drain.h"

#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lumbre {
namespace {

// Samples do not wake anybody up: the thread looks this often.
constexpr int kRoundMilliseconds = 20;
constexpr std::size_t kAlignment = 8;

void signal(const UniqueFd& event) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(event.get(), &one, sizeof(one)));
}

}  // namespace

Result<std::unique_ptr<RingDrain>> RingDrain::start(int map_fd) {
  std::unique_ptr<RingDrain> drain(new RingDrain);
  drain->ring_ = ring_buffer__new(map_fd, on_record, drain.get(), nullptr);
  if (drain->ring_ == nullptr) {
    return Error::system(errno, "cannot map the ring buffer");
  }
  drain->ready_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  drain->stop_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!drain->ready_.is_open() || !drain->stop_.is_open()) {
    return Error::system(errno, "cannot make an event descriptor");
  }
  drain->thread_ = std::jthread([own = drain.get()](const std::stop_token& stop) { own->run(stop); });
  return drain;
}

RingDrain::~RingDrain() {
  if (thread_.joinable()) {
    thread_.request_stop();
    signal(stop_);
    thread_.join();
  }
  ring_buffer__free(ring_);
}

int RingDrain::on_record(void* context, void* data, std::size_t size) {
  auto* drain = static_cast<RingDrain*>(context);
  std::vector<std::byte>& waiting = drain->waiting_;
  const std::size_t start = waiting.size();
  const std::uint64_t length = size;
  waiting.resize(start + sizeof(length) + (size + kAlignment - 1) / kAlignment * kAlignment);
  std::memcpy(waiting.data() + start, &length, sizeof(length));
  std::memcpy(waiting.data() + start + sizeof(length), data, size);
  return waiting.size() > kMostWaitingBytes ? -ENOBUFS : 0;
}

void RingDrain::drain() {
  if (waiting_.size() > kMostWaitingBytes) {
    return;
  }
  const bool was_empty = waiting_.empty();
  ring_buffer__consume(ring_);
  if (was_empty && !waiting_.empty()) {
    signal(ready_);
  }
}

void RingDrain::run(const std::stop_token& stop) {
  pollfd waited[] = {{ring_buffer__epoll_fd(ring_), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (!stop.stop_requested()) {
    ::poll(waited, std::size(waited), kRoundMilliseconds);
    const std::lock_guard lock(mutex_);
    drain();
  }
}

// False: the ring held more than may wait at once, and has more.
bool RingDrain::swap() {
  const std::lock_guard lock(mutex_);
  drain();
  std::uint64_t count = 0;
  static_cast<void>(!::read(ready_.get(), &count, sizeof(count)));
  taken_.clear();
  taken_.swap(waiting_);
  return taken_.size() <= kMostWaitingBytes;
}

void RingDrain::take(const RecordCallback& callback) {
  bool is_all = false;
  while (!is_all) {
    is_all = swap();
    for (std::size_t at = 0; at < taken_.size();) {
      std::uint64_t length = 0;
      std::memcpy(&length, taken_.data() + at, sizeof(length));
      at += sizeof(length);
      callback(std::span(taken_).subspan(at, length));
      at += (length + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
}

}  // namespace lumbre
