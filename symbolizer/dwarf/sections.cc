#include "symbolizer/dwarf/sections.h"

#include <elf.h>

#include <algorithm>

#include "symbolizer/base/byte_reader.h"

namespace lumbre::dwarf {

Sections Sections::of(const ElfFile& file) {
  Sections sections;
  sections.info = file.section_data(".debug_info");
  sections.abbrev = file.section_data(".debug_abbrev");
  sections.line = file.section_data(".debug_line");
  sections.str = file.section_data(".debug_str");
  sections.line_str = file.section_data(".debug_line_str");
  sections.str_offsets = file.section_data(".debug_str_offsets");
  sections.addr = file.section_data(".debug_addr");
  sections.ranges = file.section_data(".debug_ranges");
  sections.rnglists = file.section_data(".debug_rnglists");
  sections.aranges = file.section_data(".debug_aranges");
  for (const ElfFile::Segment& segment : file.segments()) {
    if (segment.type == PT_LOAD && (segment.flags & PF_X) != 0) {
      sections.code.push_back(
          {segment.address.value, segment.address.value + segment.memory_size_bytes});
    }
  }
  return sections;
}

bool Sections::is_code(std::uint64_t address) const {
  if (address <= 1 || address >= ~std::uint64_t{1}) {
    return false;
  }
  return code.empty() || std::any_of(code.begin(), code.end(), [address](const CodeRange& range) {
           return address >= range.start && address < range.end;
         });
}

std::uint64_t Sections::code_base() const {
  std::uint64_t base = code.empty() ? 0 : ~std::uint64_t{0};
  for (const CodeRange& range : code) {
    base = std::min(base, range.start);
  }
  return base;
}

std::string_view string_at(std::span<const std::byte> section, std::uint64_t offset) {
  if (offset >= section.size()) {
    return {};
  }
  return ByteReader(section, offset).c_string();
}

}  // namespace lumbre::dwarf
