// The names of C functions that an interpreter's own data proves: arrays of PyMethodDef (CPython,
// Include/methodobject.h) say which function is which method, also where symbols are stripped.
//
// Not a guess by shape alone: name, function, calling convention and docstring of an entry must all
// hold, and the function must begin where the unwind data says that one begins. A class is named
// where a static PyTypeObject (Include/cpython/object.h, 3.8-3.14 with the GIL) has the array as
// its methods; otherwise the method's plain name is given.
// One pass over relocations and writable data (up to 0.1 s for CPython); any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct MethodName {
  ImageAddress function;
  std::string name;  // "sorted", "list.sort"; names of one function that differ: "copy/__copy__"
};

// Sorted by address, each address once. Empty for a file without such arrays.
std::vector<MethodName> find_method_names(const ElfFile& file);

// The method whose function begins exactly here, or null.
const MethodName* find_method(std::span<const MethodName> sorted, ImageAddress function);

}  // namespace lumbre
