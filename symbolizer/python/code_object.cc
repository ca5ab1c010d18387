#include "symbolizer/python/code_object.h"

#include <algorithm>

namespace lumbre {
namespace {

// Lengths come from the target's memory and prove nothing: what is read is bounded by these.
constexpr std::uint64_t kMostTextUnits = 4096;
constexpr std::uint64_t kMostLineTableBytes = 1 << 20;

ProcessAddress plus(ProcessAddress address, std::uint64_t offset) {
  return {address.value + offset};
}

void append_utf8(std::string& text, std::uint32_t code_point) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  if (code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000)) {
    code_point = kReplacement;
  }
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xe0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

Result<std::string> read_text(const ProcessMemory& memory, ProcessAddress object,
                              const lumbre_python_layout& layout) {
  LUMBRE_TRY_ASSIGN(const auto state,
                    memory.read_value<std::uint32_t>(plus(object, layout.unicode_state)));
  LUMBRE_TRY_ASSIGN(const auto length,
                    memory.read_value<std::uint64_t>(plus(object, layout.unicode_length)));
  const unsigned kind = state >> layout.unicode_kind_shift & 7;
  const bool is_compact = (state >> (layout.unicode_kind_shift + 3) & 1) != 0;
  const bool is_ascii = (state >> layout.unicode_ascii_shift & 1) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) {
    return Error::unsupported("a str object in a form that code objects do not have");
  }
  std::string data(std::min(length, kMostTextUnits) * kind, '\0');
  const unsigned start = is_ascii ? layout.unicode_ascii_data : layout.unicode_compact_data;
  LUMBRE_TRY(memory.read(plus(object, start), std::as_writable_bytes(std::span(data))));
  return decode_unicode(std::as_bytes(std::span(data)), kind);
}

Result<void> read_line_table(const ProcessMemory& memory, ProcessAddress object,
                             const lumbre_python_layout& layout, PythonCode& code) {
  LUMBRE_TRY_ASSIGN(const auto size,
                    memory.read_value<std::uint64_t>(plus(object, layout.bytes_size)));
  code.is_line_table_whole = size <= kMostLineTableBytes;
  code.line_table.resize(std::min(size, kMostLineTableBytes));
  return memory.read(plus(object, layout.bytes_data),
                     std::as_writable_bytes(std::span(code.line_table)));
}

Result<ProcessAddress> read_pointer(const ProcessMemory& memory, ProcessAddress address) {
  LUMBRE_TRY_ASSIGN(const auto value, memory.read_value<std::uint64_t>(address));
  return ProcessAddress{value};
}

}  // namespace

std::string decode_unicode(std::span<const std::byte> data, unsigned kind) {
  std::string text;
  kind = kind == 0 ? 1 : kind;  // the kernel programs' mark for ASCII
  if (kind != 1 && kind != 2 && kind != 4) {
    return text;
  }
  text.reserve(data.size());
  for (std::size_t at = 0; at + kind <= data.size(); at += kind) {
    std::uint32_t code_point = 0;
    for (unsigned byte = 0; byte < kind; ++byte) {
      code_point |= std::to_integer<std::uint32_t>(data[at + byte]) << (8 * byte);
    }
    append_utf8(text, code_point);
  }
  return text;
}

Result<PythonCode> read_code_object(const ProcessMemory& memory, ProcessAddress code,
                                    const lumbre_python_layout& layout) {
  PythonCode result;
  result.version = layout.version;
  LUMBRE_TRY_ASSIGN(result.first_line,
                    memory.read_value<std::uint32_t>(plus(code, layout.code_first_line)));
  LUMBRE_TRY_ASSIGN(const auto name, read_pointer(memory, plus(code, layout.code_name)));
  LUMBRE_TRY_ASSIGN(const auto filename, read_pointer(memory, plus(code, layout.code_filename)));
  LUMBRE_TRY_ASSIGN(const auto table, read_pointer(memory, plus(code, layout.code_line_table)));
  LUMBRE_TRY_ASSIGN(result.name, read_text(memory, name, layout));
  LUMBRE_TRY_ASSIGN(result.filename, read_text(memory, filename, layout));
  LUMBRE_TRY(read_line_table(memory, table, layout, result));
  return result;
}

bool is_interpreter_internal(const PythonCode& code) {
  return code.version >= 0x030c && code.first_line == 0 && code.name == "__init__" &&
         code.filename == "__init__";
}

std::int64_t instruction_offset(const lumbre_python_layout& layout, std::uint64_t code_address,
                                std::uint64_t raw_instruction) {
  constexpr std::int64_t kCodeUnitBytes = 2;
  if ((layout.flags & LUMBRE_PYTHON_FRAME_OBJECTS) == 0) {
    return static_cast<std::int64_t>(raw_instruction - code_address - layout.code_bytecode);
  }
  const std::int64_t last = static_cast<std::int32_t>(raw_instruction);
  return layout.version >= 0x030a ? last * kCodeUnitBytes : last;
}

}  // namespace lumbre
