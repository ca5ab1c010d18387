// Three kinds of address that look alike and must not be mixed (in a simple test program all
// three are equal, so a mix-up passes its tests):
//   ProcessAddress  where something is in one process's memory
//   ImageAddress    the virtual address that the ELF file itself uses (p_vaddr, st_value,
//   DW_AT_low_pc) FileOffset      bytes from the start of the file (p_offset; what /proc/PID/maps
//   shows)
// Conversions are explicit and go through ElfFile (program headers) or a mapping.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace lumbre {

template <typename Tag>
struct Address {
  std::uint64_t value = 0;
  auto operator<=>(const Address&) const = default;
};

using ProcessAddress = Address<struct ProcessAddressTag>;
using ImageAddress = Address<struct ImageAddressTag>;
using FileOffset = Address<struct FileOffsetTag>;

}  // namespace lumbre

template <typename Tag>
struct std::hash<lumbre::Address<Tag>> {
  std::size_t operator()(const lumbre::Address<Tag>& address) const noexcept {
    return std::hash<std::uint64_t>()(address.value);
  }
};
