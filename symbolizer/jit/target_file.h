// TargetFile: a file that a profiled process wrote about itself, read as it grows.
//
// The target may be hostile: the file is opened inside the target's own root folder (no link leads
// out of it), must be a regular file, no symbolic link, and belong to the target's user or to root.
// Reads are by position and bounded by the caller; nothing is mapped. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

// What a process is called where it lives: the files it writes carry that name.
struct TargetIdentity {
  std::uint32_t pid = 0;        // as Lumbre sees it
  std::uint32_t inner_pid = 0;  // in its innermost PID namespace (NSpid of /proc/PID/status)
  std::uint32_t user = 0, effective_user = 0;
  std::uint64_t start_boot_ns = 0;  // CLOCK_BOOTTIME
  UniqueFd root;                    // its root folder: outlives it, for what it writes at its end
};
Result<TargetIdentity> read_target_identity(std::uint32_t pid);

class TargetFile {
 public:
  // `path` is as the target sees it.
  static Result<TargetFile> open(const TargetIdentity& target, const std::string& path);
  // A file that the target maps: "/proc/PID/map_files/...".
  static Result<TargetFile> open_mapped(const TargetIdentity& target, const std::string& link);

  std::uint64_t size_bytes() const;  // now; 0 when it cannot be asked
  // How many bytes could be read, 0 at the end or on failure.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const;
  // Both CLOCK_REALTIME; a file system that keeps no time of birth gives 0.
  std::uint64_t birth_ns() const { return birth_ns_; }
  std::uint64_t change_ns() const;

 private:
  explicit TargetFile(UniqueFd fd) : fd_(std::move(fd)) {}
  static Result<TargetFile> check(UniqueFd fd, const TargetIdentity& target,
                                  const std::string& name);

  UniqueFd fd_;
  std::uint64_t birth_ns_ = 0;
};

}  // namespace lumbre
