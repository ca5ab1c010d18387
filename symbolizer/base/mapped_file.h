// MappedFile: a whole regular file as read-only bytes.
//
// Refuses anything but a regular file (a FIFO or a device in place of a file must not hang or
// feed the reader). The bytes may still change under the reader if somebody writes to the file,
// and a file that shrinks while mapped raises SIGBUS on access: install_sigbus_guard() turns the
// missing pages into zeros, so that readers see malformed input instead of dying.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

// What tells one file from another: st_dev, st_ino, st_size, st_mtim of stat(2).
struct FileIdentity {
  unsigned long long device = 0;
  unsigned long long inode = 0;
  unsigned long long size_bytes = 0;
  long long mtime_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  static Result<MappedFile> from_fd(UniqueFd fd, const std::string& name_for_errors);
  // Takes the bytes as they are, for images that are no files (the vdso).
  static MappedFile from_bytes(std::string bytes);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const;
  const FileIdentity& identity() const { return identity_; }
  // Gives the pages read so far back to the kernel; they are read again when needed.
  void release_pages() const;

 private:
  void unmap();

  const std::byte* data_ = nullptr;  // mapping made by mmap(2), or null
  std::size_t size_ = 0;
  std::string owned_;
  FileIdentity identity_;
};

// Process-wide; call once before the first file is mapped. Later calls do nothing.
void install_sigbus_guard();

}  // namespace lumbre
