#include "symbolizer/elf/plt.h"

#include <elf.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/symbol_table.h"

namespace lumbre {
namespace {

using Bytes = std::span<const std::byte>;

// A hostile file could give each of millions of stubs the same long name.
constexpr std::size_t kMaxNameBytesInAll = std::size_t{64} << 20;

Elf64_Rela relocation_at(Bytes relocations, std::size_t index) {
  return ByteReader(relocations, index * sizeof(Elf64_Rela)).read<Elf64_Rela>();
}

Bytes section_bytes(const ElfFile& file, std::string_view name) {
  const auto* section = file.find_section(name);
  return section == nullptr ? Bytes{} : section->bytes;
}

// The functions that GOT slots will point to.
class SlotNames {
 public:
  explicit SlotNames(const ElfFile& file)
      : dynamic_(find_dynamic_tables(file).symbols),
        static_(find_static_symbols(file)),
        plt_relocations_(section_bytes(file, ".rela.plt")) {
    add(plt_relocations_, 0);
    // Relative ones come first and name nothing; libtorch has hundreds of thousands of them.
    add(section_bytes(file, ".rela.dyn"), find_dynamic_value(file, DT_RELACOUNT).value_or(0));
    if (has_resolvers_) {
      add_indirect_functions(dynamic_);
      add_indirect_functions(static_);
    }
  }

  std::string_view name_of_slot(std::uint64_t slot) const {
    const auto found = relocations_.find(slot);
    return found == relocations_.end() ? std::string_view() : name_of(found->second);
  }
  std::string_view name_of_plt_index(std::uint32_t index) const {
    const std::size_t count = plt_relocations_.size() / sizeof(Elf64_Rela);
    return index < count ? name_of(relocation_at(plt_relocations_, index)) : std::string_view();
  }

 private:
  void add(Bytes relocations, std::uint64_t first) {
    const std::size_t count = relocations.size() / sizeof(Elf64_Rela);
    for (auto i = static_cast<std::size_t>(std::min<std::uint64_t>(first, count)); i < count; ++i) {
      const auto relocation = relocation_at(relocations, i);
      const auto type = ELF64_R_TYPE(relocation.r_info);
      has_resolvers_ = has_resolvers_ || type == R_X86_64_IRELATIVE;
      if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE) {
        relocations_.emplace(relocation.r_offset, relocation);
      }
    }
  }
  void add_indirect_functions(const SymbolTable& table) {
    for (std::size_t i = 0; i < table.size(); ++i) {
      const auto symbol = table.entry(i);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC && symbol.st_shndx != SHN_UNDEF) {
        indirect_functions_.emplace(symbol.st_value, table.name(symbol));
      }
    }
  }
  std::string_view name_of(const Elf64_Rela& relocation) const {
    if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_IRELATIVE) {
      return dynamic_.name(dynamic_.entry(ELF64_R_SYM(relocation.r_info)));
    }
    // The addend is the resolver's address, which is the value of the indirect function's symbol.
    const auto found = indirect_functions_.find(static_cast<std::uint64_t>(relocation.r_addend));
    return found == indirect_functions_.end() ? std::string_view() : found->second;
  }

  SymbolTable dynamic_;
  SymbolTable static_;
  Bytes plt_relocations_;
  bool has_resolvers_ = false;
  std::unordered_map<std::uint64_t, Elf64_Rela> relocations_;               // by slot
  std::unordered_map<std::uint64_t, std::string_view> indirect_functions_;  // by resolver
};

// What one stub leads to: [endbr64] [bnd] jmp *slot(%rip), or, in a lazy .plt behind .plt.sec,
// [endbr64] push $index.
std::string_view name_of_stub(const SlotNames& names, std::uint64_t address, Bytes code) {
  constexpr std::uint32_t kEndbr64 = 0xfa1e0ff3;
  ByteReader reader(code);
  if (reader.u32() != kEndbr64) {
    reader = ByteReader(code);
  }
  std::uint8_t opcode = reader.u8();
  if (opcode == 0xf2) {
    opcode = reader.u8();
  }
  if (opcode == 0x68) {
    const auto index = reader.u32();
    return reader.is_failed() ? std::string_view() : names.name_of_plt_index(index);
  }
  if (opcode != 0xff || reader.u8() != 0x25) {
    return {};
  }
  const auto displacement = std::int64_t{reader.read<std::int32_t>()};
  if (reader.is_failed()) {
    return {};
  }
  return names.name_of_slot(address + reader.offset() + static_cast<std::uint64_t>(displacement));
}

}  // namespace

std::vector<PltStub> find_plt_stubs(const ElfFile& file) {
  std::vector<PltStub> stubs;
  if (file.machine() != EM_X86_64) {
    return stubs;
  }
  std::optional<SlotNames> names;
  std::size_t name_bytes = 0;
  for (const auto& section : file.sections()) {
    if (section.name.substr(0, 4) != ".plt" || (section.flags & SHF_EXECINSTR) == 0) {
      continue;
    }
    if (!names.has_value()) {
      names.emplace(file);
    }
    const std::size_t stub_bytes = section.entry_size_bytes == 8 ? 8 : 16;
    for (std::size_t at = 0; at + stub_bytes <= section.bytes.size(); at += stub_bytes) {
      const ImageAddress address{section.address.value + at};
      const auto name = name_of_stub(*names, address.value, section.bytes.subspan(at, stub_bytes));
      name_bytes += name.size();
      if (!name.empty() && name_bytes <= kMaxNameBytesInAll) {
        stubs.push_back({address, stub_bytes, std::string(name) + "@plt"});
      }
    }
  }
  return stubs;
}

}  // namespace lumbre
