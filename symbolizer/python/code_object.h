// Names and lines out of a Python code object, read from a live process or from the bytes that a
// kernel record carries. Code objects do not change while they live; one that is freed meanwhile
// gives an Error or wrong text, never a crash: lengths from the target are bounded. Any thread.
// Formats: cpython/Include/cpython/code.h, unicodeobject.h; PEP 626 and PEP 657 for the tables.
// Cost: reading one is 8 reads of the target; find_line walks the table from its start.
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
  std::string line_table;     // co_lnotab (<= 3.9) or co_linetable, as bytes
  std::uint32_t version = 0;  // layout.version
  bool is_line_table_whole = true;
};

// True for code that is not the program's: from 3.12 on the interpreter pushes a frame of its own
// between a class and its __init__ once that call is specialised (_Py_InitCleanup in
// cpython/Python/specialize.c), which sys._getframe passes over. Such frames are not shown.
bool is_interpreter_internal(const PythonCode& code);

// From a live process.
Result<PythonCode> read_code_object(const ProcessMemory& memory, ProcessAddress code,
                                    const lumbre_python_layout& layout);

// Text of a str object's raw bytes: `kind` bytes per code point (1, 2 or 4; 1 is Latin-1, 0
// ASCII), to UTF-8. Surrogates, which are all lone in a str, become U+FFFD.
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
