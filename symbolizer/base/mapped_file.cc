#include "symbolizer/base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <mutex>

namespace lumbre {
namespace {

void map_zero_page_on_sigbus(int signal_number, siginfo_t* info, void*) {
  const long page_size = 4096;
  if (info->si_code == BUS_ADRERR) {
    void* page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(info->si_addr) &
                                         ~static_cast<std::uintptr_t>(page_size - 1));
    if (::mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        MAP_FAILED) {
      return;
    }
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

}  // namespace

void install_sigbus_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = map_zero_page_on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

Result<MappedFile> MappedFile::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must return at once, to be refused below.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open()) {
    return Error::system(errno, "cannot open " + path);
  }
  return from_fd(std::move(fd), path);
}

Result<MappedFile> MappedFile::from_fd(UniqueFd fd, const std::string& name_for_errors) {
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0) {
    return Error::system(errno, "cannot stat " + name_for_errors);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error::unsupported("cannot read " + name_for_errors + ": not a regular file");
  }
  MappedFile file;
  file.identity_ = {status.st_dev, status.st_ino, static_cast<unsigned long long>(status.st_size),
                    status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
  if (status.st_size == 0) {
    return file;
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    return Error::system(errno, "cannot map " + name_for_errors);
  }
  file.data_ = static_cast<const std::byte*>(data);
  file.size_ = size;
  return file;
}

MappedFile MappedFile::from_bytes(std::string bytes) {
  MappedFile file;
  file.owned_ = std::move(bytes);
  file.identity_.size_bytes = file.owned_.size();
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      owned_(std::move(other.owned_)),
      identity_(other.identity_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    owned_ = std::move(other.owned_);
    identity_ = other.identity_;
  }
  return *this;
}

MappedFile::~MappedFile() { unmap(); }

void MappedFile::unmap() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
    data_ = nullptr;
  }
}

void MappedFile::release_pages() const {
  if (data_ != nullptr) {
    ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
  }
}

std::span<const std::byte> MappedFile::bytes() const {
  if (data_ != nullptr) {
    return {data_, size_};
  }
  return std::as_bytes(std::span(owned_.data(), owned_.size()));
}

}  // namespace lumbre
