// PythonLayout: where one CPython version keeps the fields that a stack walk needs.
//
// 3.8-3.12 come from the table in layouts.cc, 3.13+ from the interpreter's own _Py_DebugOffsets
// (debug_offsets.cc).
// A version that is not known is refused, never guessed. To add one: a row in layouts.cc or
// debug_offsets.cc, and its interpreter in tests/unit/python.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bpf/abi/tables.h"
#include "symbolizer/base/result.h"

namespace lumbre {

struct PythonVersion {
  unsigned major = 0, minor = 0, micro = 0;
  bool is_free_threaded = false;
  std::string text() const;  // "3.11.7", "3.13.0t"
};

// For 3.8-3.12, from the version alone; kUnsupported (with the version in the message) otherwise.
Result<lumbre_python_layout> layout_of_version(const PythonVersion& version);
// From the bytes of _PyRuntime's first member, _Py_DebugOffsets (3.13+; cookie "xdebugpy").
Result<lumbre_python_layout> layout_from_debug_offsets(std::span<const std::byte> debug_offsets);

Result<PythonVersion> version_from_debug_offsets(std::span<const std::byte> debug_offsets);

}  // namespace lumbre
