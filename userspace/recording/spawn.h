// SpawnedCommand: a command that waits, right before its exec, until the recording is ready; so it
// is recorded from its first instruction on.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

class SpawnedCommand {
 public:
  static Result<std::unique_ptr<SpawnedCommand>> start(const std::vector<std::string>& command);
  ~SpawnedCommand();

  pid_t pid() const { return pid_; }
  // Lets it run; the errno of a failed exec (ENOENT, EACCES, ...), or 0.
  int release();
  // Its wait status if it has ended.
  std::optional<int> poll();

 private:
  SpawnedCommand() = default;
  pid_t pid_ = -1;
  UniqueFd go_;       // written to let it exec
  UniqueFd failure_;  // gives the errno of a failed exec, closes on success
  std::optional<int> status_;
};

}  // namespace lumbre
