// Names and lines out of a Python code object.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bpf/abi/tables.h"
#include "symbolizer/base/result.h"
#include "symbolizer/procfs/memory.h"

namespace lumbre {

// What is kept of a code object: enough to name it and any of its instructions.
struct PythonCode {
  std::string name;      // qualified where the version has it; UTF-8
  std::string filename;  // co_filename; UTF-8
  std::uint32_t first_line = 0;
  std::string line_table;  // co_lnotab (<= 3.9) or co_linetable, as bytes
  std::uint32_t version = 0;  // layout.version
  bool is_line_table_whole = true;
};

// From a live process.
Result<PythonCode> read_code_object(const ProcessMemory& memory, ProcessAddress code,
                                    const lumbre_python_layout& layout);

// Text of a str object's raw bytes: `kind` bytes per code point (1, 2 or 4; 1 is Latin-1 unless
// ascii), to UTF-8. Lone surrogates become U+FFFD.
std::string decode_unicode(std::span<const std::byte> data, unsigned kind);

// The byte offset of the executing instruction from a frame's raw field: f_lasti (3.8-3.9 bytes,
// 3.10 code units), prev_instr (3.11-3.12) or instr_ptr (3.13+), the latter two being addresses
// inside the code object at `code_address`. Negative: the frame has not started.
std::int64_t instruction_offset(const lumbre_python_layout& layout, std::uint64_t code_address,
                                std::uint64_t raw_instruction);

struct PythonLine {
  std::uint32_t line = 0;    // 0: this instruction has no line
  std::uint32_t column = 0;  // 1-based; 0: unknown (before 3.11)
};
// Reads the version's own line table format (lnotab, 3.10's linetable, 3.11's location table).
PythonLine find_line(const PythonCode& code, std::int64_t instruction_offset_bytes);

}  // namespace lumbre
