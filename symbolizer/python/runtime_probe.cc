#include "symbolizer/python/runtime_probe.h"

#include <elf.h>

#include <algorithm>

#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/python/version_search.h"

namespace lumbre {
namespace {

bool is_program(const ElfFile& file) {
  return std::ranges::any_of(file.segments(),
                             [](const auto& segment) { return segment.type == PT_INTERP; }) ||
         file.type() == ET_EXEC;
}

// The section has the struct alone (3.10 on), so it serves where the symbol was stripped. Only a
// program is searched for a symbol that it does not export: every library of a process comes by
// here, and the symbol tables of some are larger than all that is read of them otherwise.
std::optional<ImageAddress> find_runtime_address(const ElfFile& file) {
  if (const auto symbol = find_exported_symbol(file, "_PyRuntime")) {
    return symbol->address;
  }
  const ElfFile::Section* section = file.find_section(".PyRuntime");
  if (section != nullptr && section->address.value != 0) {
    return section->address;
  }
  const auto symbol = is_program(file) ? find_symbol_by_name(file, "_PyRuntime") : std::nullopt;
  return symbol.has_value() ? std::optional(symbol->address) : std::nullopt;
}

// Larger than every known _Py_DebugOffsets; the rest of _PyRuntime follows it.
constexpr std::uint64_t kDebugOffsetsBytes = 1024;

Result<lumbre_python_layout> find_layout(const ElfFile& file, const PythonRuntime& runtime) {
  if (runtime.version.major == 3 && runtime.version.minor >= 13) {
    return layout_from_debug_offsets(file.bytes_at(runtime.runtime, kDebugOffsetsBytes));
  }
  return layout_of_version(runtime.version);
}

void choose_layout(const ElfFile& file, PythonRuntime& runtime) {
  if (runtime.code_type.value == 0) {
    runtime.unsupported_reason = "CPython " + runtime.version.text() +
                                 " keeps no PyCode_Type symbol, so its frames cannot be checked";
    return;
  }
  auto layout = find_layout(file, runtime);
  if (!layout.has_value()) {
    runtime.unsupported_reason = layout.error().message;
    return;
  }
  runtime.layout = *layout;
  runtime.is_supported = true;
}

}  // namespace

std::optional<PythonRuntime> find_python_runtime(const std::shared_ptr<const ElfFile>& file) {
  const auto address = find_runtime_address(*file);
  if (!address) {
    return std::nullopt;
  }
  PythonRuntime runtime;
  runtime.runtime = *address;
  if (const auto type = find_symbol_by_name(*file, "PyCode_Type")) {
    runtime.code_type = type->address;
  }
  if (const auto eval = find_symbol_by_name(*file, "_PyEval_EvalFrameDefault")) {
    runtime.eval_start = eval->address;
    runtime.eval_size_bytes = eval->size_bytes;
  }
  const auto version = find_python_version(*file, *address);
  if (!version) {
    runtime.unsupported_reason = "a CPython whose version the file does not tell";
    return runtime;
  }
  runtime.version = *version;
  choose_layout(*file, runtime);
  return runtime;
}

lumbre_python_process place_python_runtime(const PythonRuntime& runtime, std::uint64_t load_bias) {
  lumbre_python_process process{};
  process.runtime_address = runtime.runtime.value + load_bias;
  process.code_type_address = runtime.code_type.value + load_bias;
  process.layout = runtime.layout;
  return process;
}

}  // namespace lumbre
