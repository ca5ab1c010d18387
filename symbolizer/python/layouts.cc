#include "symbolizer/python/layouts.h"

#include <algorithm>
#include <limits>

namespace lumbre {
namespace {

// The versions that do not publish their own offsets: x86-64, release builds, each number checked
// against the headers of that version (cpython/Include: pystate.h, frameobject.h, code.h and
// internal/pycore_{frame,interp,runtime}.h).
lumbre_python_layout frame_object_layout(unsigned minor, std::uint16_t last_instruction) {
  lumbre_python_layout layout{};
  layout.version = 0x0300 | minor;
  layout.flags = LUMBRE_PYTHON_FRAME_OBJECTS;
  layout.runtime_interpreters_head = 32;
  layout.interpreter_threads_head = 8;
  layout.thread_id = 176;
  layout.thread_frame = 24;
  layout.frame_code = 32;
  layout.frame_back = 24;
  layout.frame_instruction = last_instruction;
  layout.code_first_line = 40;
  layout.code_filename = 104;
  layout.code_name = 112;  // co_qualname came with 3.11
  layout.code_line_table = 120;
  return layout;
}

lumbre_python_layout layout_3_11() {
  lumbre_python_layout layout{};
  layout.version = 0x030b;
  layout.flags = LUMBRE_PYTHON_CFRAME | LUMBRE_PYTHON_ENTRY_FLAG;
  layout.runtime_interpreters_head = 40;
  layout.interpreter_threads_head = 16;
  layout.thread_id = 152;
  layout.thread_frame = 56;
  layout.cframe_current_frame = 8;
  layout.cframe_previous = 16;
  layout.frame_code = 32;
  layout.frame_back = 48;
  layout.frame_instruction = 56;
  layout.frame_owner = 68;  // is_entry
  layout.code_first_line = 72;
  layout.code_filename = 112;
  layout.code_name = 128;  // co_qualname
  layout.code_line_table = 136;
  layout.code_bytecode = 184;
  return layout;
}

lumbre_python_layout layout_3_12() {
  lumbre_python_layout layout = layout_3_11();
  layout.version = 0x030c;
  layout.flags = LUMBRE_PYTHON_CFRAME | LUMBRE_PYTHON_SHIM_FRAMES;
  layout.interpreter_threads_head = 72;
  layout.thread_id = 136;
  layout.cframe_current_frame = 0;
  layout.cframe_previous = 8;
  layout.frame_code = 0;
  layout.frame_back = 8;
  layout.frame_owner = 70;
  layout.owner_shim_minimum = 3;  // FRAME_OWNED_BY_CSTACK
  layout.code_first_line = 68;
  layout.code_bytecode = 192;
  return layout;
}

// What these versions share; the unicode header lost its wchar_t pointer in 3.12.
void fill_common(lumbre_python_layout& layout, bool has_wide_string_pointer) {
  layout.frame_bytes = bytes_to_read_of_frame(layout);
  layout.interpreter_next = 0;
  layout.thread_next = 8;
  layout.unicode_length = 16;
  layout.unicode_state = 32;
  layout.unicode_kind_shift = kUnicodeKindShift;
  layout.unicode_ascii_shift = kUnicodeAsciiShift;
  layout.unicode_ascii_data = has_wide_string_pointer ? 48 : 40;
  layout.unicode_compact_data = has_wide_string_pointer ? 72 : 56;
  layout.bytes_size = 16;
  layout.bytes_data = 32;
  layout.object_type = 8;
  layout.executable_mask = std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint16_t bytes_to_read_of_frame(const lumbre_python_layout& layout) {
  const int last = std::max(
      {layout.frame_code, layout.frame_back, layout.frame_instruction, layout.frame_owner});
  return static_cast<std::uint16_t>((last / 8 + 1) * 8);
}

std::string PythonVersion::text() const {
  return std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro) +
         (is_free_threaded ? "t" : "");
}

Result<lumbre_python_layout> layout_of_version(const PythonVersion& version) {
  const std::string name = "CPython " + version.text();
  if (version.major != 3 || version.minor < 8) {
    return Error::unsupported(name + " is too old: Python frames are known for 3.8 to 3.14");
  }
  lumbre_python_layout layout{};
  switch (version.minor) {
    case 8:
    case 9:
      layout = frame_object_layout(version.minor, 104);
      break;
    case 10:
      layout = frame_object_layout(version.minor, 96);
      break;
    case 11:
      layout = layout_3_11();
      break;
    case 12:
      layout = layout_3_12();
      break;
    default:
      return Error::unsupported(name + " has no row in the layout table: from 3.13 on the layout " +
                                "comes from the interpreter's own debug offsets");
  }
  fill_common(layout, version.minor < 12);
  return layout;
}

}  // namespace lumbre
