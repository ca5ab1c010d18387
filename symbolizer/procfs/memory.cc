#include "symbolizer/procfs/memory.h"

#include <sys/uio.h>

namespace lumbre {

Result<void> LiveProcessMemory::read(ProcessAddress address, std::span<std::byte> into) const {
  std::size_t done = 0;
  // A read that crosses into an unmapped page comes back short; the next call then says why.
  while (done < into.size()) {
    iovec local = {into.data() + done, into.size() - done};
    iovec remote = {reinterpret_cast<void*>(address.value + done), into.size() - done};
    const ssize_t count = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (count <= 0) {
      const int saved_errno = count == 0 ? EFAULT : errno;
      return Error::system(saved_errno, "cannot read memory of process " + std::to_string(pid_));
    }
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace lumbre
