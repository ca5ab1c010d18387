// BpfWaits: the accounts of threads that the kernel programs keep (bpf/abi/waits.h), their settings,
// and looks at what waits now. Belongs to a BpfObject whose programs for waiting are loaded. One
// thread.
#pragma once

#include <cstdint>
#include <functional>

#include "bpf/abi/waits.h"
#include "symbolizer/base/result.h"
#include "symbolizer/base/unique_fd.h"

namespace lumbre {

class BpfWaits {
 public:
  struct Handles {
    int threads_fd = -1;
    int settings_fd = -1;
    int look_link_fd = -1;  // of the iterator over tasks
  };

  explicit BpfWaits(Handles handles) : handles_(handles) {}

  Result<void> set(const lumbre_wait_settings& settings);
  // Samples of waits that were not taken yet, into the ring buffer; see lumbre_wait_settings.
  Result<void> look();
  // Whether the thread still is in the wait that began then.
  bool is_waiting(std::uint32_t host_tid, std::uint64_t since_ns) const;
  void for_each_account(const std::function<void(const lumbre_thread&)>& callback) const;

 private:
  Handles handles_;
};

}  // namespace lumbre
