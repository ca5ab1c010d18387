// PythonLayout: where one CPython version keeps the fields that a stack walk needs.
//
// 3.8-3.12 come from the table in layouts.cc, 3.13+ from the interpreter's own _Py_DebugOffsets
// (debug_offsets.cc). A version that is not known is refused, never guessed; so are free-threaded
// builds and pre-releases. To add one: its numbers in layouts.cc or debug_offsets.cc, and its
// interpreter in tests/unit/python. Pure functions; any thread.
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

// The version alone, also of one whose layout is not known.
Result<PythonVersion> version_from_debug_offsets(std::span<const std::byte> debug_offsets);

// PyASCIIObject.state: two bits of interning, three of width, compact, ascii; in every GIL build.
inline constexpr std::uint16_t kUnicodeKindShift = 2;
inline constexpr std::uint16_t kUnicodeAsciiShift = 6;

// Whole words that cover every field of a frame which the layout names.
std::uint16_t bytes_to_read_of_frame(const lumbre_python_layout& layout);

}  // namespace lumbre
