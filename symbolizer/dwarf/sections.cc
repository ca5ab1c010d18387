#include "symbolizer/dwarf/sections.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "symbolizer/base/byte_reader.h"

namespace lumbre::dwarf {
namespace {

bool is_inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return !part.empty() && part.data() >= whole.data() &&
         part.data() + part.size() <= whole.data() + whole.size();
}

// Of whole pages inside the bytes.
void release(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t first = (start + page - 1) / page * page;
  const std::uintptr_t last = (start + bytes.size()) / page * page;
  if (first < last) {
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

}  // namespace

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
  sections.whole_file = file.bytes();
  sections.is_mapped = file.identity().inode != 0;
  return sections;
}

void Sections::release_pages() const {
  for (const auto& section : {info, line, str, ranges, rnglists, aranges}) {
    // Decompressed sections are memory of our own, which would lose its contents.
    if (is_mapped && is_inside(section, whole_file)) {
      release(section);
    }
  }
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
