// Encoded pointers of .eh_frame and .eh_frame_hdr (DW_EH_PE_*; Linux Standard Base Core 5.0,
// section 10.5.1): a byte tells how the value is stored and what it counts from.
//
// Values are image addresses. "Indirect" is resolved from the file's own bytes, which hold the
// right value only where the linker needed no run-time relocation. Any thread; no allocation.
#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct PointerBases {
  std::uint64_t section_address = 0;   // image address of the reader's first byte (pcrel)
  std::uint64_t text_address = 0;      // textrel
  std::uint64_t data_address = 0;      // datarel: the GOT, or .eh_frame_hdr itself in its table
  std::uint64_t function_address = 0;  // funcrel
  const ElfFile* file = nullptr;       // for indirect; may be null
};

// None where the bytes end, the encoding is DW_EH_PE_omit or unknown, or an indirect pointer's
// place is not in the file. The reader then stands behind what could be read.
std::optional<std::uint64_t> read_encoded_pointer(ByteReader& reader, std::uint8_t encoding,
                                                  const PointerBases& bases);

// Size of the stored value where it is fixed, else 0 (LEB128, omit, unknown).
unsigned encoded_pointer_size(std::uint8_t encoding);

}  // namespace lumbre
