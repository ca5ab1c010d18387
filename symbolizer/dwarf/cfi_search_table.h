// The sorted table of .eh_frame_hdr: from an address to the FDE that may cover it, by binary
// search (Linux Standard Base Core 5.0, section 10.6.2). Points into the file's bytes.
//
// The table is a claim of the linker: whoever uses it checks that the FDE it leads to begins
// where the table says. Any thread; no allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "symbolizer/dwarf/cfi_pointer.h"

namespace lumbre {

class CfiSearchTable {
 public:
  struct Entry {
    std::uint64_t start;        // image address of the function
    std::uint64_t fde_address;  // image address of its FDE
  };

  // None where the version is unknown or the address of .eh_frame is missing. The table itself may
  // still be absent: see has_table().
  static std::optional<CfiSearchTable> parse(std::span<const std::byte> bytes,
                                             const PointerBases& bases);

  std::uint64_t eh_frame_address() const { return eh_frame_address_; }
  bool has_table() const { return count_ != 0; }
  std::size_t size() const { return count_; }

  // The last entry that does not start behind the address.
  std::optional<Entry> find(std::uint64_t address) const;
  // The first entry that starts behind the address.
  std::optional<Entry> find_next(std::uint64_t address) const;
  // Reads the whole table.
  bool is_sorted() const;

 private:
  std::uint64_t start_at(std::size_t index) const;
  std::size_t count_up_to(std::uint64_t address) const;
  Entry entry_at(std::size_t index) const;

  std::uint64_t eh_frame_address_ = 0;
  std::span<const std::byte> table_;
  PointerBases bases_;
  std::uint8_t encoding_ = 0;
  std::size_t value_size_ = 0;
  std::size_t count_ = 0;
};

}  // namespace lumbre
