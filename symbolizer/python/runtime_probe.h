// Finds a CPython in an ELF file by content (no file-name rules): _PyRuntime in .dynsym or
// .symtab, else the .PyRuntime section. Works on executables, libpython, embedded and renamed ones.
// Any thread. Cost: microseconds for a file without Python that has a GNU hash table.
#pragma once

#include <optional>

#include "bpf/abi/tables.h"
#include "symbolizer/elf/elf_file.h"
#include "symbolizer/python/layouts.h"

namespace lumbre {

struct PythonRuntime {
  PythonVersion version;
  ImageAddress runtime;                    // _PyRuntime
  ImageAddress code_type;                  // PyCode_Type
  std::optional<ImageAddress> eval_start;  // _PyEval_EvalFrameDefault, where a symbol says so
  std::uint64_t eval_size_bytes = 0;
  lumbre_python_layout layout{};  // meaningful when `is_supported`
  bool is_supported = false;
  std::string unsupported_reason;  // one line that names the version
};

// None: the file holds no CPython. An unknown version is a PythonRuntime with is_supported false.
std::optional<PythonRuntime> find_python_runtime(const std::shared_ptr<const ElfFile>& file);

// The runtime where one process has it: `load_bias` is added to image addresses. Only for a
// supported runtime.
lumbre_python_process place_python_runtime(const PythonRuntime& runtime, std::uint64_t load_bias);

}  // namespace lumbre
