#include "userspace/kernel/bpf_waits.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>

namespace lumbre {

Result<void> BpfWaits::set(const lumbre_wait_settings& settings) {
  const std::uint32_t zero = 0;
  if (::bpf_map_update_elem(handles_.settings_fd, &zero, &settings, BPF_ANY) != 0) {
    return Error::system(errno, "cannot set how waits are followed");
  }
  return {};
}

Result<void> BpfWaits::look() {
  // Each reader of an iterator is a run of its own over all tasks.
  const UniqueFd reader(::bpf_iter_create(handles_.look_link_fd));
  if (reader.get() < 0) {
    return Error::system(errno, "cannot look at waiting threads");
  }
  char buffer[64];
  for (;;) {
    const ssize_t size = ::read(reader.get(), buffer, sizeof(buffer));
    if (size == 0) {
      return {};
    }
    // EAGAIN: one read goes over a million tasks at most.
    if (size < 0 && errno != EAGAIN && errno != EINTR) {
      return Error::system(errno, "cannot look at waiting threads");
    }
  }
}

bool BpfWaits::is_waiting(std::uint32_t host_tid, std::uint64_t since_ns) const {
  lumbre_thread thread = {};
  return ::bpf_map_lookup_elem(handles_.threads_fd, &host_tid, &thread) == 0 &&
         thread.state == LUMBRE_THREAD_WAITS && thread.since_ns == since_ns;
}

void BpfWaits::for_each_account(const std::function<void(const lumbre_thread&)>& callback) const {
  std::uint32_t key = 0;
  const void* previous = nullptr;
  std::uint32_t next = 0;
  while (::bpf_map_get_next_key(handles_.threads_fd, previous, &next) == 0) {
    lumbre_thread thread = {};
    if (::bpf_map_lookup_elem(handles_.threads_fd, &next, &thread) == 0) {
      callback(thread);
    }
    key = next;
    previous = &key;
  }
}

}  // namespace lumbre
