// Reads of another process's memory. The target is never stopped: what is read may be changing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "symbolizer/base/address.h"
#include "symbolizer/base/result.h"

namespace lumbre {

class ProcessMemory {
 public:
  virtual ~ProcessMemory() = default;
  // Reads all of it or fails.
  virtual Result<void> read(ProcessAddress address, std::span<std::byte> into) const = 0;

  template <typename T>
  Result<T> read_value(ProcessAddress address) const {
    T value{};
    LUMBRE_TRY(read(address, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
};

// process_vm_readv(2); needs CAP_SYS_PTRACE or the same user.
class LiveProcessMemory : public ProcessMemory {
 public:
  explicit LiveProcessMemory(int pid) : pid_(pid) {}
  Result<void> read(ProcessAddress address, std::span<std::byte> into) const override;

 private:
  int pid_;
};

}  // namespace lumbre
