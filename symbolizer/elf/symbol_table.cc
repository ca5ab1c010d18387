#include "symbolizer/elf/symbol_table.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "symbolizer/base/byte_reader.h"

namespace lumbre {
namespace {

using Bytes = std::span<const std::byte>;

const ElfFile::Section* find_section_of_type(const ElfFile& file, std::uint32_t type) {
  for (const auto& section : file.sections()) {
    if (section.type == type) {
      return &section;
    }
  }
  return nullptr;
}

Bytes section_bytes(const ElfFile& file, std::uint32_t type) {
  const auto* section = find_section_of_type(file, type);
  return section == nullptr ? Bytes{} : section->bytes;
}

SymbolTable table_in_section(const ElfFile& file, std::uint32_t type) {
  const auto* section = find_section_of_type(file, type);
  if (section == nullptr || section->link >= file.sections().size()) {
    return {};
  }
  return {section->bytes, file.sections()[section->link].bytes};
}

Bytes bytes_of_dynamic(const ElfFile& file, std::int64_t tag) {
  const auto address = find_dynamic_value(file, tag);
  return address.has_value() ? file.bytes_from(ImageAddress{*address}) : Bytes{};
}

// A GNU hash table (the ELF hash section of binutils' ld --hash-style=gnu): header, Bloom words
// of 64 bits, buckets, then one hash value for each symbol from `first_symbol` on, the lowest bit
// of which ends a chain.
struct GnuHash {
  std::uint32_t bucket_count = 0, first_symbol = 0, bloom_words = 0, bloom_shift = 0;
  Bytes bloom, buckets, chains;

  explicit GnuHash(Bytes bytes) {
    ByteReader reader(bytes);
    bucket_count = reader.u32();
    first_symbol = reader.u32();
    bloom_words = reader.u32();
    bloom_shift = reader.u32();
    bloom = reader.take(std::size_t{bloom_words} * 8);
    buckets = reader.take(std::size_t{bucket_count} * 4);
    chains = reader.take(reader.remaining());
    if (reader.is_failed()) {
      bucket_count = 0;
    }
  }
  std::uint32_t bucket(std::size_t index) const { return ByteReader(buckets, index * 4).u32(); }
  // The chain value of a symbol; 1 ("end") when outside the table.
  std::uint32_t chain(std::size_t symbol) const {
    ByteReader reader(chains, std::min((symbol - first_symbol) * 4, chains.size()));
    const std::uint32_t value = reader.u32();
    return symbol < first_symbol || reader.is_failed() ? 1 : value;
  }
  bool may_hold(std::uint32_t hash) const {
    if (bloom_words == 0) {
      return true;
    }
    const std::uint64_t word = ByteReader(bloom, std::size_t{hash / 64 % bloom_words} * 8).u64();
    const std::uint32_t second = bloom_shift < 32 ? hash >> bloom_shift : 0;
    return ((word >> (hash % 64)) & (word >> (second % 64)) & 1) != 0;
  }
};

std::uint32_t gnu_hash_of(std::string_view name) {
  std::uint32_t hash = 5381;
  for (const char c : name) {
    hash = hash * 33 + static_cast<unsigned char>(c);
  }
  return hash;
}

// The number of dynamic symbols is written nowhere but in the hash tables.
std::size_t count_dynamic_symbols(Bytes gnu_hash, Bytes sysv_hash) {
  if (sysv_hash.size() >= 8) {
    return ByteReader(sysv_hash, 4).u32();
  }
  const GnuHash table(gnu_hash);
  std::size_t last = 0;
  for (std::size_t i = 0; i < table.bucket_count; ++i) {
    last = std::max<std::size_t>(last, table.bucket(i));
  }
  if (last < table.first_symbol) {
    return table.bucket_count == 0 ? 0 : table.first_symbol;
  }
  while ((table.chain(last) & 1) == 0) {
    ++last;
  }
  return last + 1;
}

Bytes first_bytes(Bytes bytes, std::uint64_t size) {
  return bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), size)));
}

DynamicTables tables_of_dynamic_segment(const ElfFile& file) {
  DynamicTables tables;
  tables.gnu_hash = bytes_of_dynamic(file, DT_GNU_HASH);
  tables.versions = bytes_of_dynamic(file, DT_VERSYM);
  const auto count = count_dynamic_symbols(tables.gnu_hash, bytes_of_dynamic(file, DT_HASH));
  tables.symbols = SymbolTable(
      first_bytes(bytes_of_dynamic(file, DT_SYMTAB), std::uint64_t{count} * sizeof(Elf64_Sym)),
      first_bytes(bytes_of_dynamic(file, DT_STRTAB),
                  find_dynamic_value(file, DT_STRSZ).value_or(0)));
  return tables;
}

std::string_view without_version(std::string_view name) {
  const auto* at = static_cast<const char*>(::memrchr(name.data(), '@', name.size()));
  if (at == nullptr) {
    return name;
  }
  const auto position = static_cast<std::size_t>(at - name.data());
  const auto is_version_character = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  const auto version = name.substr(position + 1);
  if (version.empty() || !std::all_of(version.begin(), version.end(), is_version_character)) {
    return name;
  }
  const auto base =
      name.substr(0, position > 0 && name[position - 1] == '@' ? position - 1 : position);
  return base.empty() ? name : base;
}

bool is_hidden_version(Bytes versions, std::size_t index) {
  constexpr std::uint16_t kHidden = 0x8000;
  return index < versions.size() / 2 && (ByteReader(versions, index * 2).u16() & kHidden) != 0;
}

}  // namespace

std::string_view SymbolTable::name(const Elf64_Sym& symbol) const {
  if (symbol.st_name >= strings_.size()) {
    return {};
  }
  const auto* start = reinterpret_cast<const char*>(strings_.data()) + symbol.st_name;
  const std::size_t limit = std::min(strings_.size() - symbol.st_name, kMaxNameBytes);
  return without_version({start, ::strnlen(start, limit)});
}

bool SymbolTable::has_name(const Elf64_Sym& symbol, std::string_view name) const {
  if (symbol.st_name >= strings_.size() || name.size() >= strings_.size() - symbol.st_name) {
    return false;
  }
  const auto* start = reinterpret_cast<const char*>(strings_.data()) + symbol.st_name;
  const char end = start[name.size()];
  return (end == '\0' || end == '@') && std::memcmp(start, name.data(), name.size()) == 0;
}

SymbolTable find_static_symbols(const ElfFile& file) { return table_in_section(file, SHT_SYMTAB); }

DynamicTables find_dynamic_tables(const ElfFile& file) {
  DynamicTables tables;
  tables.symbols = table_in_section(file, SHT_DYNSYM);
  if (tables.symbols.size() == 0) {
    return tables_of_dynamic_segment(file);
  }
  tables.gnu_hash = section_bytes(file, SHT_GNU_HASH);
  tables.versions = section_bytes(file, SHT_GNU_versym);
  return tables;
}

std::optional<std::size_t> find_in_gnu_hash(const DynamicTables& tables, std::string_view name) {
  const GnuHash table(tables.gnu_hash);
  const std::uint32_t hash = gnu_hash_of(name);
  if (table.bucket_count == 0 || !table.may_hold(hash)) {
    return std::nullopt;
  }
  std::optional<std::size_t> hidden;
  std::size_t index = table.bucket(hash % table.bucket_count);
  if (index < table.first_symbol) {
    return std::nullopt;
  }
  for (; index < tables.symbols.size(); ++index) {
    const std::uint32_t chain = table.chain(index);
    if ((chain | 1) == (hash | 1) && tables.symbols.has_name(tables.symbols.entry(index), name)) {
      if (!is_hidden_version(tables.versions, index)) {
        return index;
      }
      hidden = hidden.has_value() ? hidden : index;
    }
    if ((chain & 1) != 0) {
      break;
    }
  }
  return hidden;
}

std::optional<std::uint64_t> find_dynamic_value(const ElfFile& file, std::int64_t tag) {
  std::optional<std::uint64_t> value;
  for (const auto& segment : file.segments()) {
    if (segment.type != PT_DYNAMIC) {
      continue;
    }
    ByteReader reader(file.bytes_at(segment.address, segment.file_size_bytes));
    while (reader.remaining() >= sizeof(Elf64_Dyn)) {
      const auto entry = reader.read<Elf64_Dyn>();
      if (entry.d_tag == DT_NULL) {
        break;
      }
      if (entry.d_tag == tag) {
        value = entry.d_un.d_val;
      }
    }
  }
  return value;
}

}  // namespace lumbre
