#include "userspace/recording/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace lumbre {
namespace {

// In the child: no allocation, no C++; only what is safe after fork(2).
[[noreturn]] void run_child(int go, int failure, char* const* arguments) {
  char byte = 0;
  if (::read(go, &byte, 1) != 1) {
    ::_exit(125);
  }
  ::execvp(arguments[0], arguments);
  const int error = errno;
  const ssize_t written = ::write(failure, &error, sizeof(error));
  ::_exit(written == sizeof(error) && error == ENOENT ? 127 : 126);
}

}  // namespace

Result<std::unique_ptr<SpawnedCommand>> SpawnedCommand::start(
    const std::vector<std::string>& command) {
  int go[2];
  int failure[2];
  if (::pipe2(go, O_CLOEXEC) != 0 || ::pipe2(failure, O_CLOEXEC) != 0) {
    return Error::system(errno, "cannot start " + command.front());
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  std::unique_ptr<SpawnedCommand> spawned(new SpawnedCommand);
  spawned->pid_ = ::fork();
  if (spawned->pid_ < 0) {
    return Error::system(errno, "cannot start " + command.front());
  }
  if (spawned->pid_ == 0) {
    // The write end must be closed here, or the child would never see that Lumbre has gone.
    UniqueFd(go[1]).reset();
    run_child(go[0], failure[1], arguments.data());
  }
  UniqueFd(go[0]).reset();
  UniqueFd(failure[1]).reset();
  spawned->go_.reset(go[1]);
  spawned->failure_.reset(failure[0]);
  return spawned;
}

SpawnedCommand::~SpawnedCommand() {
  go_.reset();  // a child still waiting ends by itself
  poll();
}

int SpawnedCommand::release() {
  const char byte = 1;
  if (::write(go_.get(), &byte, 1) != 1) {
    return errno;
  }
  int error = 0;
  ssize_t size = 0;
  do {
    size = ::read(failure_.get(), &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(error) ? error : 0;
}

std::optional<int> SpawnedCommand::poll() {
  int status = 0;
  if (!status_.has_value() && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
  }
  return status_;
}

}  // namespace lumbre
