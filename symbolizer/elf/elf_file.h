// ElfFile: the parts of one ELF64 little-endian file that a profiler needs, by bounds-checked
// reads over the mapped bytes. Owns the mapping. Hostile files give an Error or missing parts,
// never a crash, an endless loop or an allocation sized by the file's own claims.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/base/address.h"
#include "symbolizer/base/mapped_file.h"
#include "symbolizer/base/result.h"

namespace lumbre {

class ElfFile {
 public:
  struct Segment {  // Elf64_Phdr
    std::uint32_t type = 0;
    std::uint32_t flags = 0;
    FileOffset offset;
    ImageAddress address;
    std::uint64_t file_size_bytes = 0;
    std::uint64_t memory_size_bytes = 0;
    std::uint64_t alignment = 0;
  };
  struct Section {  // Elf64_Shdr; bytes as in the file (still compressed if SHF_COMPRESSED)
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    ImageAddress address;
    std::uint64_t size_bytes = 0;  // sh_size
    std::uint64_t entry_size_bytes = 0;
    std::uint32_t link = 0;
    std::span<const std::byte> bytes;  // empty for SHT_NOBITS
  };

  static Result<std::shared_ptr<ElfFile>> parse(MappedFile file);

  std::uint16_t type() const;     // ET_EXEC, ET_DYN, ...
  std::uint16_t machine() const;  // EM_X86_64, ...
  ImageAddress entry() const;
  std::span<const Segment> segments() const;
  std::span<const Section> sections() const;
  const Section* find_section(std::string_view name) const;  // null when absent
  // Contents of a section by name, decompressed (SHF_COMPRESSED zlib and zstd, and ".zdebug_")
  // and kept; empty when absent or broken.
  std::span<const std::byte> section_data(std::string_view name) const;
  // Bytes at an image address, through PT_LOAD; empty when not in the file.
  std::span<const std::byte> bytes_at(ImageAddress address, std::uint64_t size_bytes) const;
  // From an image address to the end of its PT_LOAD's bytes in the file; empty when outside all.
  std::span<const std::byte> bytes_from(ImageAddress address) const;

  // Through the PT_LOAD that holds it (executable ones first); none outside all. The start of the
  // page in which a segment starts counts as its own, because the kernel maps whole pages and
  // /proc/PID/maps shows the page's offset.
  std::optional<ImageAddress> to_image_address(FileOffset offset) const;
  std::optional<FileOffset> to_file_offset(ImageAddress address) const;

  const std::string& build_id() const;  // lower-case hex of NT_GNU_BUILD_ID, or ""
  const FileIdentity& identity() const;
  std::span<const std::byte> bytes() const;  // the whole file
  void release_pages() const;  // memory that can be read from the file again

 private:
  struct State;
  explicit ElfFile(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace lumbre
