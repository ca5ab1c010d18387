#include "symbolizer/jit/target_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "symbolizer/procfs/read_file.h"

namespace lumbre {
namespace {

constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
constexpr std::uint64_t kSecondNs = 1'000'000'000;

// The numbers behind "Key:" of /proc/PID/status.
std::vector<std::uint32_t> status_numbers(const std::string& status, const std::string& key) {
  std::vector<std::uint32_t> numbers;
  const std::size_t at = status.find("\n" + key + ":");
  if (at != std::string::npos) {
    const std::size_t begin = at + key.size() + 2;
    std::istringstream line(status.substr(begin, status.find('\n', begin) - begin));
    for (std::uint32_t number = 0; line >> number;) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

// Field 22 of /proc/PID/stat; the name before it may hold spaces and brackets.
std::uint64_t start_boot_ns(const std::string& stat) {
  std::istringstream rest(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
  std::string word;
  for (int field = 3; field <= 21; ++field) {
    rest >> word;
  }
  std::uint64_t ticks = 0;
  rest >> ticks;
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks * (kSecondNs / per_second);
}

// Without links out of the root folder: neither "..", nor absolute ones, nor /proc's magic ones.
int open_in_root(int root, const std::string& path) {
  open_how how = {};
  how.flags = kOpenFlags;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how)));
}

}  // namespace

Result<TargetIdentity> read_target_identity(std::uint32_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  LUMBRE_TRY_ASSIGN(const std::string status, read_proc_file(folder + "/status"));
  LUMBRE_TRY_ASSIGN(const std::string stat, read_proc_file(folder + "/stat"));
  const auto pids = status_numbers(status, "NSpid");
  const auto users = status_numbers(status, "Uid");
  if (users.size() < 2) {
    return Error::malformed(folder + "/status names no user");
  }
  TargetIdentity identity;
  identity.pid = pid;
  identity.inner_pid = pids.empty() ? pid : pids.back();
  identity.user = users[0];
  identity.effective_user = users[1];
  identity.start_boot_ns = start_boot_ns(stat);
  identity.root.reset(::open((folder + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return identity;
}

Result<TargetFile> TargetFile::check(UniqueFd fd, const TargetIdentity& target,
                                     const std::string& name) {
  struct statx status = {};
  if (::statx(fd.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
    return Error::system(errno, "cannot look at " + name);
  }
  if (!S_ISREG(status.stx_mode)) {
    return Error::unsupported(name + " is no regular file");
  }
  if (status.stx_uid != 0 && status.stx_uid != target.user &&
      status.stx_uid != target.effective_user) {
    return Error::unsupported(name + " belongs to user " + std::to_string(status.stx_uid) +
                              ", not to the process's own");
  }
  struct statfs system = {};
  if (::fstatfs(fd.get(), &system) == 0 && system.f_type == FUSE_SUPER_MAGIC) {
    return Error::unsupported(name + " is on a file system that may never answer");
  }
  TargetFile file(std::move(fd));
  if ((status.stx_mask & STATX_BTIME) != 0) {
    file.birth_ns_ =
        static_cast<std::uint64_t>(status.stx_btime.tv_sec) * kSecondNs + status.stx_btime.tv_nsec;
  }
  return file;
}

Result<TargetFile> TargetFile::open(const TargetIdentity& target, const std::string& path) {
  UniqueFd fd(open_in_root(target.root.get(), path));
  if (!fd.is_open()) {
    return Error::system(errno,
                         "cannot open " + path + " of process " + std::to_string(target.pid));
  }
  return check(std::move(fd), target, path);
}

Result<TargetFile> TargetFile::open_mapped(const TargetIdentity& target, const std::string& link) {
  UniqueFd fd(::open(link.c_str(), kOpenFlags & ~O_NOFOLLOW));  // the link is the kernel's own
  if (!fd.is_open()) {
    return Error::system(errno, "cannot open " + link);
  }
  return check(std::move(fd), target, link);
}

std::uint64_t TargetFile::size_bytes() const {
  struct stat status = {};
  return ::fstat(fd_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

std::uint64_t TargetFile::change_ns() const {
  struct stat status = {};
  if (::fstat(fd_.get(), &status) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kSecondNs +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

std::size_t TargetFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  const ssize_t count = ::pread(fd_.get(), into.data(), into.size(), static_cast<off_t>(offset));
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace lumbre
