#include "userspace/cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <vector>

#include "symbolizer/base/unique_fd.h"

namespace lumbre {
namespace {

// A stream into a descriptor that remembers the errno of a failed write (a full disk).
class FdBuffer : public std::streambuf {
 public:
  explicit FdBuffer(int fd) : fd_(fd), buffer_(1 << 16) {
    setp(buffer_.data(), buffer_.data() + buffer_.size());
  }
  int failure() const { return failure_; }

 protected:
  int overflow(int character) override {
    if (sync() != 0) {
      return traits_type::eof();
    }
    if (character != traits_type::eof()) {
      *pptr() = static_cast<char>(character);
      pbump(1);
    }
    return character;
  }
  int sync() override {
    for (const char* at = pbase(); at < pptr();) {
      const ssize_t written = ::write(fd_, at, static_cast<std::size_t>(pptr() - at));
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written <= 0) {
        failure_ = errno;
        return -1;
      }
      at += written;
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return 0;
  }

 private:
  int fd_;
  int failure_ = 0;
  std::vector<char> buffer_;
};

void give_to_sudo_user(int fd) {
  const char* uid = std::getenv("SUDO_UID");
  const char* gid = std::getenv("SUDO_GID");
  if (::geteuid() == 0 && uid != nullptr && gid != nullptr) {
    // Failing leaves the file with root, which is safe and visible.
    if (::fchown(fd, static_cast<uid_t>(std::strtoul(uid, nullptr, 10)),
                 static_cast<gid_t>(std::strtoul(gid, nullptr, 10))) != 0) {
      return;
    }
  }
}

std::string temporary_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return folder + "." + name + ".lumbre-" + std::to_string(::getpid());
}

Result<void> write_whole(int fd, const std::string& path, const WriteFunction& write) {
  FdBuffer buffer(fd);
  std::ostream stream(&buffer);
  const bool is_written = write(stream) && stream.flush().good();
  if (!is_written) {
    return Error::system(buffer.failure() != 0 ? buffer.failure() : EIO, "cannot write " + path);
  }
  return {};
}

}  // namespace

bool path_exists(const std::string& path) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0;
}

Result<void> write_output_file(const std::string& path, const WriteFunction& write) {
  if (path == "-") {
    return write_whole(STDOUT_FILENO, "standard output", write);
  }
  const std::string temporary = temporary_name(path);
  UniqueFd fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.is_open()) {
    return Error::system(errno, "cannot write " + path);
  }
  give_to_sudo_user(fd.get());
  Result<void> written = write_whole(fd.get(), path, write);
  if (written.has_value() && ::fsync(fd.get()) != 0 && errno != EINVAL) {
    written = Error::system(errno, "cannot write " + path);
  }
  if (written.has_value() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = Error::system(errno, "cannot write " + path);
  }
  if (!written.has_value()) {
    ::unlink(temporary.c_str());
  }
  return written;
}

Result<void> make_output_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    return Error::system(errno, "cannot make the folder " + path);
  }
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.is_open()) {
    give_to_sudo_user(fd.get());
  }
  return {};
}

void remove_output_folder(const std::string& path) {
  for (const char* name : {"cpu", "offcpu", "net", "disk"}) {
    ::unlink((path + "/" + name + ".pb.gz").c_str());
    ::unlink((path + "/" + name + ".svg").c_str());
  }
  for (const char* name : {"wall.svg", "timeline.pftrace", "summary.json"}) {
    ::unlink((path + "/" + name).c_str());
  }
  ::rmdir(path.c_str());
}

}  // namespace lumbre
