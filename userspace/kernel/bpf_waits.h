// BpfWaits: how the kernel programs keep the accounts of threads (bpf/abi/waits.h), and looks at what
// waits now. Belongs to a BpfObject whose programs for waiting are loaded. One
// thread.
#pragma once

#include <cstdint>

#include "bpf/abi/waits.h"
#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

class BpfWaits {
 public:
  struct Handles {
    int settings_fd = -1;
    int look_link_fd = -1;  // of the iterator over tasks
  };

  explicit BpfWaits(Handles handles) : handles_(handles) {}

  Result<void> set(const lumbre_wait_settings& settings);
  // By the settings: samples of waits that were not taken yet, or all accounts, into the ring
  // buffer.
  Result<void> look();

 private:
  Handles handles_;
};

}  // namespace lumbre
