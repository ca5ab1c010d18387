// FunctionStarts: where functions begin by the sorted table of .eh_frame_hdr (LSB, "Exception
// Frame Header"), which also stripped files keep. It bounds symbols that carry no size. A view
// into the ElfFile; empty when there is no table in the form that all linkers write. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

class FunctionStarts {
 public:
  explicit FunctionStarts(const ElfFile& file);

  // The lowest start above the address.
  std::optional<ImageAddress> next_after(ImageAddress address) const;

 private:
  std::uint64_t start_of(std::size_t index) const;

  std::uint64_t base_ = 0;            // the table's values are relative to the header
  std::span<const std::byte> table_;  // pairs of int32: start, FDE
};

}  // namespace lumbre
