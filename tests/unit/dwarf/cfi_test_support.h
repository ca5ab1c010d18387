// What the tests of the CFI reader share: images of real files and of this process.
#pragma once

#include <link.h>

#include <memory>
#include <string>

#include "symbolizer/dwarf/cfi_section.h"
#include "symbolizer/elf/elf_file.h"

namespace lumbre {

std::string read_file(const std::string& path);
// The path of the module of this process whose name contains the text; fails the test if none.
std::string path_of_module(const std::string& part_of_name);
// "" where the kernel gave none.
std::string vdso_image();
// Null (and a failed test) where the image is no ELF file.
std::shared_ptr<const ElfFile> parse_image(const std::string& image);
// A whole section for walking its entries, by section headers.
CfiSection whole_section(const ElfFile& file, CfiSection::Kind kind);

}  // namespace lumbre
