#include "symbolizer/elf/elf_file.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/decompress.h"

namespace lumbre {

struct ElfFile::State {
  MappedFile file;
  Elf64_Ehdr header = {};
  std::vector<Segment> segments;
  std::vector<Section> sections;
  std::string build_id;

  std::mutex mutex;  // guards what follows; a map keeps the bytes where spans point
  std::map<std::string, ByteVector, std::less<>> decompressed;
};

namespace {

using Bytes = std::span<const std::byte>;

Bytes slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return {};
  }
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

Result<Elf64_Ehdr> read_header(Bytes bytes) {
  if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) {
    return Error::malformed("not an ELF file");
  }
  ByteReader reader(bytes);
  const auto header = reader.read<Elf64_Ehdr>();
  if (reader.is_failed()) {
    return Error::malformed("ELF header is cut off");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error::unsupported("not a 64-bit little-endian ELF file");
  }
  return header;
}

// As many entries of a header table as the file really holds.
template <typename T>
std::vector<T> read_table(Bytes file, std::uint64_t offset, std::uint64_t count,
                          std::uint64_t entry_size) {
  std::vector<T> entries;
  if (offset == 0 || offset >= file.size() || entry_size < sizeof(T)) {
    return entries;
  }
  count = std::min<std::uint64_t>(count, (file.size() - offset) / entry_size);
  entries.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    entries.push_back(ByteReader(file, offset + i * entry_size).read<T>());
  }
  return entries;
}

// Section 0 holds the counts that do not fit the header's 16 bits (gABI, "ELF Header").
struct TableCounts {
  std::uint64_t segments, sections, names_index;
};

TableCounts read_counts(Bytes file, const Elf64_Ehdr& header) {
  TableCounts counts = {header.e_phnum, header.e_shnum, header.e_shstrndx};
  const auto first = read_table<Elf64_Shdr>(file, header.e_shoff, 1, header.e_shentsize);
  if (first.empty()) {
    return counts;
  }
  if (header.e_phnum == PN_XNUM) {
    counts.segments = first[0].sh_info;
  }
  if (header.e_shnum == 0) {
    counts.sections = first[0].sh_size;
  }
  if (header.e_shstrndx == SHN_XINDEX) {
    counts.names_index = first[0].sh_link;
  }
  return counts;
}

std::vector<ElfFile::Segment> read_segments(Bytes file, const Elf64_Ehdr& header,
                                            std::uint64_t count) {
  std::vector<ElfFile::Segment> segments;
  for (const auto& entry :
       read_table<Elf64_Phdr>(file, header.e_phoff, count, header.e_phentsize)) {
    segments.push_back({entry.p_type, entry.p_flags, FileOffset{entry.p_offset},
                        ImageAddress{entry.p_vaddr}, entry.p_filesz, entry.p_memsz, entry.p_align});
  }
  return segments;
}

std::string_view section_name(Bytes names, std::uint32_t offset) {
  // Bounded, so that a table without terminators does not cost its length for every section.
  constexpr std::size_t kMaxNameBytes = 1024;
  if (offset >= names.size()) {
    return {};
  }
  names = names.subspan(offset, std::min(kMaxNameBytes, names.size() - offset));
  return ByteReader(names).c_string();
}

std::vector<ElfFile::Section> read_sections(Bytes file, const Elf64_Ehdr& header,
                                            const TableCounts& counts) {
  const auto entries =
      read_table<Elf64_Shdr>(file, header.e_shoff, counts.sections, header.e_shentsize);
  Bytes names;
  if (counts.names_index < entries.size()) {
    const auto& entry = entries[counts.names_index];
    names = slice(file, entry.sh_offset, entry.sh_size);
  }
  std::vector<ElfFile::Section> sections;
  sections.reserve(entries.size());
  for (const auto& entry : entries) {
    const bool has_bytes = entry.sh_type != SHT_NOBITS && entry.sh_type != SHT_NULL;
    sections.push_back({section_name(names, entry.sh_name), entry.sh_type, entry.sh_flags,
                        ImageAddress{entry.sh_addr}, entry.sh_size, entry.sh_entsize, entry.sh_link,
                        has_bytes ? slice(file, entry.sh_offset, entry.sh_size) : Bytes{}});
  }
  return sections;
}

std::string to_hex(Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

// The build id in a run of notes, or "".
std::string find_build_id(Bytes notes, std::uint64_t alignment) {
  constexpr std::size_t kMaxBuildIdBytes = 64;
  const std::size_t align = alignment == 8 ? 8 : 4;
  ByteReader reader(notes);
  const auto skip_padding = [&] { reader.skip((align - reader.offset() % align) % align); };
  while (reader.remaining() >= sizeof(Elf64_Nhdr)) {
    const auto note = reader.read<Elf64_Nhdr>();
    const auto name = reader.take(note.n_namesz);
    skip_padding();
    const auto content = reader.take(note.n_descsz);
    if (note.n_type == NT_GNU_BUILD_ID && name.size() == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(name.data(), ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0 &&
        content.size() <= kMaxBuildIdBytes) {
      return to_hex(content);
    }
    skip_padding();
  }
  return {};
}

std::string find_build_id(Bytes file, std::span<const ElfFile::Segment> segments,
                          std::span<const ElfFile::Section> sections) {
  // Sections first: the program headers of a separate debug file describe the other file.
  for (const auto& section : sections) {
    if (section.type == SHT_NOTE) {
      const std::uint64_t align = section.name == ".note.gnu.property" ? 8 : 4;
      if (auto id = find_build_id(section.bytes, align); !id.empty()) {
        return id;
      }
    }
  }
  for (const auto& segment : segments) {
    if (segment.type == PT_NOTE) {
      const auto notes = slice(file, segment.offset.value, segment.file_size_bytes);
      if (auto id = find_build_id(notes, segment.alignment); !id.empty()) {
        return id;
      }
    }
  }
  return {};
}

std::optional<ByteVector> decompress_section(const ElfFile::Section& section) {
  ByteReader reader(section.bytes);
  const auto header = reader.read<Elf64_Chdr>();
  const auto content = reader.take(reader.remaining());
  constexpr std::uint32_t kElfCompressZstd = 2;  // gABI 2022; not in older <elf.h>
  if (reader.is_failed()) {
    return std::nullopt;
  }
  if (header.ch_type == ELFCOMPRESS_ZLIB) {
    return decompress_zlib(content, header.ch_size);
  }
  if (header.ch_type == kElfCompressZstd) {
    return decompress_zstd(content, header.ch_size);
  }
  return std::nullopt;
}

// ".zdebug_": "ZLIB", the size as 8 big-endian bytes, then the stream (GNU, before SHF_COMPRESSED).
std::optional<ByteVector> decompress_gnu_section(const ElfFile::Section& section) {
  ByteReader reader(section.bytes);
  const auto magic = reader.take(4);
  const auto size_bytes = __builtin_bswap64(reader.u64());
  if (reader.is_failed() || std::memcmp(magic.data(), "ZLIB", 4) != 0) {
    return std::nullopt;
  }
  return decompress_zlib(reader.take(reader.remaining()), size_bytes);
}

std::uint64_t page_size() {
  static const auto size = static_cast<std::uint64_t>(std::max(4096L, ::sysconf(_SC_PAGESIZE)));
  return size;
}

bool holds_offset(const ElfFile::Segment& segment, std::uint64_t offset) {
  return offset >= segment.offset.value && offset - segment.offset.value < segment.file_size_bytes;
}

bool holds_offset_in_first_page(const ElfFile::Segment& segment, std::uint64_t offset) {
  return segment.file_size_bytes > 0 && offset < segment.offset.value &&
         offset >= (segment.offset.value & ~(page_size() - 1));
}

// The PT_LOAD whose bytes in the file hold the address, or null.
const ElfFile::Segment* find_load_segment(std::span<const ElfFile::Segment> segments,
                                          ImageAddress address) {
  for (const auto& segment : segments) {
    if (segment.type == PT_LOAD && address >= segment.address &&
        address.value - segment.address.value < segment.file_size_bytes) {
      return &segment;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<ElfFile>> ElfFile::parse(MappedFile file) {
  LUMBRE_TRY_ASSIGN(const Elf64_Ehdr header, read_header(file.bytes()));
  auto state = std::make_shared<State>();
  state->file = std::move(file);
  state->header = header;
  const auto all = state->file.bytes();
  const auto counts = read_counts(all, header);
  state->segments = read_segments(all, header, counts.segments);
  state->sections = read_sections(all, header, counts);
  state->build_id = find_build_id(all, state->segments, state->sections);
  return std::shared_ptr<ElfFile>(new ElfFile(std::move(state)));
}

ElfFile::ElfFile(std::shared_ptr<State> state) : state_(std::move(state)) {}

std::uint16_t ElfFile::type() const { return state_->header.e_type; }
std::uint16_t ElfFile::machine() const { return state_->header.e_machine; }
ImageAddress ElfFile::entry() const { return ImageAddress{state_->header.e_entry}; }
std::span<const ElfFile::Segment> ElfFile::segments() const { return state_->segments; }
std::span<const ElfFile::Section> ElfFile::sections() const { return state_->sections; }
const std::string& ElfFile::build_id() const { return state_->build_id; }
void ElfFile::release_pages() const { state_->file.release_pages(); }
const FileIdentity& ElfFile::identity() const { return state_->file.identity(); }
std::span<const std::byte> ElfFile::bytes() const { return state_->file.bytes(); }

const ElfFile::Section* ElfFile::find_section(std::string_view name) const {
  const auto found = std::find_if(state_->sections.begin(), state_->sections.end(),
                                  [&](const Section& section) { return section.name == name; });
  return found == state_->sections.end() ? nullptr : &*found;
}

std::span<const std::byte> ElfFile::section_data(std::string_view name) const {
  const Section* section = find_section(name);
  const bool is_compressed = section != nullptr && (section->flags & SHF_COMPRESSED) != 0;
  if (section != nullptr && !is_compressed) {
    return section->bytes;
  }
  constexpr std::string_view kDebug = ".debug_";
  if (section == nullptr && name.substr(0, kDebug.size()) == kDebug) {
    section = find_section(".z" + std::string(name.substr(1)));
  }
  if (section == nullptr) {
    return {};
  }
  const std::lock_guard lock(state_->mutex);
  if (const auto kept = state_->decompressed.find(name); kept != state_->decompressed.end()) {
    return kept->second;
  }
  auto content = is_compressed ? decompress_section(*section) : decompress_gnu_section(*section);
  return state_->decompressed.emplace(name, std::move(content).value_or(ByteVector{}))
      .first->second;
}

std::span<const std::byte> ElfFile::bytes_from(ImageAddress address) const {
  const Segment* segment = find_load_segment(state_->segments, address);
  if (segment == nullptr || segment->offset.value > bytes().size()) {
    return {};
  }
  const auto content = bytes().subspan(segment->offset.value);
  const auto size_bytes = std::min<std::uint64_t>(content.size(), segment->file_size_bytes);
  const auto past = address.value - segment->address.value;
  return past < size_bytes ? content.subspan(past, size_bytes - past) : Bytes{};
}

std::span<const std::byte> ElfFile::bytes_at(ImageAddress address, std::uint64_t size_bytes) const {
  return slice(bytes_from(address), 0, size_bytes);
}

std::optional<ImageAddress> ElfFile::to_image_address(FileOffset offset) const {
  for (const std::uint32_t wanted : {std::uint32_t{PF_X}, std::uint32_t{0}}) {
    for (const auto holds : {holds_offset, holds_offset_in_first_page}) {
      for (const auto& segment : state_->segments) {
        if (segment.type == PT_LOAD && (segment.flags & PF_X) == wanted &&
            holds(segment, offset.value)) {
          return ImageAddress{segment.address.value + (offset.value - segment.offset.value)};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<FileOffset> ElfFile::to_file_offset(ImageAddress address) const {
  const Segment* segment = find_load_segment(state_->segments, address);
  if (segment == nullptr) {
    return std::nullopt;
  }
  return FileOffset{segment->offset.value + (address.value - segment->address.value)};
}

}  // namespace lumbre
