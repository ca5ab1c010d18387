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

}  // namespace lumbre
