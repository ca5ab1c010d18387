#include "symbolizer/procfs/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "symbolizer/base/unique_fd.h"

namespace lumbre {

Result<std::string> read_proc_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) {
    return Error::system(errno, "cannot open " + path);
  }
  constexpr std::size_t kFirstBytes = std::size_t{16} << 10;
  std::string text;
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) {
      text.resize(std::max(kFirstBytes, text.size() * 2));
    }
    const ssize_t count = ::read(fd.get(), text.data() + used, text.size() - used);
    if (count == 0) {
      text.resize(used);
      return text;
    }
    if (count < 0 && errno != EINTR) {
      return Error::system(errno, "cannot read " + path);
    }
    used += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
}

}  // namespace lumbre
