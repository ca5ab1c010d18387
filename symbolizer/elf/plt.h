// Names for the stubs of the procedure linkage table, which have no symbols of their own:
// "malloc@plt". Each stub is decoded for the GOT slot that it jumps through, and the relocation of
// that slot names the function, so that .plt, .plt.sec and .plt.got need no rules of their own.
// x86-64 only so far. Any thread; costs a pass over the relocations.
#pragma once

#include <string>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct PltStub {
  ImageAddress address;
  std::uint64_t size_bytes = 0;
  std::string name;  // "malloc@plt"
};

std::vector<PltStub> find_plt_stubs(const ElfFile& file);

}  // namespace lumbre
