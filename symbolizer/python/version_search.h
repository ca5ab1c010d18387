// Which CPython an ELF file holds, from its content: the debug offsets (3.13+), the Py_Version
// word (3.11+), the string that Py_GetVersion uses, or the library path compiled into every
// interpreter ("lib/python3.X", the micro version then reads 0). File names are not looked at.
// Cost: microseconds, but for the last way, which searches the file's read-only data once.
#pragma once

#include <optional>

#include "symbolizer/elf/elf_file.h"
#include "symbolizer/python/layouts.h"

namespace lumbre {

std::optional<PythonVersion> find_python_version(const ElfFile& file, ImageAddress runtime);

}  // namespace lumbre
