// Test support: the functions of a library, and what analyse_function() says of them.
#pragma once

#include <string>
#include <vector>

#include "symbolizer/code/function_rules.h"
#include "symbolizer/elf/elf_file.h"

namespace lumbre {

struct SizedFunction {
  std::string name;
  ImageAddress address;
  std::uint64_t size_bytes = 0;
};

// Of .dynsym and .symtab, by address, without aliases; none that begins inside another.
std::vector<SizedFunction> list_functions(const ElfFile& file);

FunctionCode code_of(const std::shared_ptr<const ElfFile>& file, const SizedFunction& function);

// Path of the shared object that a symbol of this process lies in; "" where there is none.
std::string path_of_symbol(const char* name);

}  // namespace lumbre
