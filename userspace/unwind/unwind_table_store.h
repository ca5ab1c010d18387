// UnwindTableStore: where unwind tables for the walk in the kernel are written (bpf/abi/tables.h).
// The kernel programs' maps, or plain memory in tests. One thread.
#pragma once

#include <cstdint>
#include <span>

#include "bpf/abi/tables.h"

namespace lumbre {

class UnwindTableStore {
 public:
  virtual ~UnwindTableStore() = default;

  // Seen by the kernel programs as they are written: whoever writes lets nothing refer to an
  // element before it is whole, and changes none that something refers to.
  virtual std::span<lumbre_unwind_rule> rules() = 0;
  virtual std::span<lumbre_unwind_row> rows() = 0;
  virtual std::span<lumbre_code_range> ranges() = 0;

  // These take effect at once and whole; false: the table is full.
  virtual bool set_page(const lumbre_page_key& key, const lumbre_page& page) = 0;
  virtual void clear_page(const lumbre_page_key& key) = 0;
  virtual bool set_process(std::uint32_t visible_pid, const lumbre_native_process& process) = 0;
  virtual void clear_process(std::uint32_t visible_pid) = 0;
};

}  // namespace lumbre
