#include "symbolizer/jit/gdb_jit.h"

#include <elf.h>

#include <algorithm>
#include <string_view>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/elf_file.h"

namespace lumbre {
namespace {

struct Descriptor {  // struct jit_descriptor
  std::uint32_t version = 0, action = 0;
  std::uint64_t relevant = 0, first = 0;
};

// In an object file a symbol counts from its section, whose address is where it was loaded.
std::uint64_t address_of(const ElfFile& file, const Elf64_Sym& symbol) {
  if (file.type() != ET_REL) {
    return symbol.st_value;
  }
  const auto sections = file.sections();
  const std::uint64_t base =
      symbol.st_shndx < sections.size() ? sections[symbol.st_shndx].address.value : 0;
  return base == 0 ? 0 : base + symbol.st_value;
}

}  // namespace

std::vector<JitFunction> functions_of_object(std::string bytes) {
  std::vector<JitFunction> functions;
  const auto file = ElfFile::parse(MappedFile::from_bytes(std::move(bytes)));
  const auto* table = file.has_value() ? (*file)->find_section(".symtab") : nullptr;
  if (table == nullptr || table->link >= (*file)->sections().size()) {
    return functions;
  }
  const std::span<const std::byte> names = (*file)->sections()[table->link].bytes;
  ByteReader reader(table->bytes);
  while (reader.remaining() >= sizeof(Elf64_Sym)) {
    const auto symbol = reader.read<Elf64_Sym>();
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    JitFunction function;
    function.start = {address_of(**file, symbol)};
    function.size_bytes = symbol.st_size;
    function.name = ByteReader(names, symbol.st_name).c_string();
    if (function.start.value != 0 && function.size_bytes != 0 && !function.name.empty()) {
      functions.push_back(std::move(function));
    }
  }
  return functions;
}

void GdbJit::read_object(const ProcessMemory& memory, const Entry& entry, std::uint64_t last_ns,
                         JitFunctions& functions) {
  if (entry.size_bytes > kMaxObjectBytes || read_bytes_ + entry.size_bytes > kMaxBytes ||
      !known_.emplace(entry.object, entry.size_bytes).second) {
    return;
  }
  read_bytes_ += entry.size_bytes;
  std::string bytes(static_cast<std::size_t>(entry.size_bytes), '\0');
  if (!memory.read({entry.object}, std::as_writable_bytes(std::span(bytes))).has_value()) {
    return;
  }
  for (JitFunction& function : functions_of_object(std::move(bytes))) {
    const bool is_taken = functions.is_taken(function.start, function.size_bytes);
    function.from_ns = is_taken ? last_ns : 0;
    functions.add(std::move(function));
  }
}

void GdbJit::read(const ProcessMemory& memory, std::uint64_t last_ns, JitFunctions& functions) {
  const auto descriptor = memory.read_value<Descriptor>(descriptor_);
  if (!descriptor.has_value() || descriptor->version != 1 || descriptor->first == last_first_) {
    return;
  }
  last_first_ = descriptor->first;  // LLVM puts new objects first
  std::uint64_t at = descriptor->first;
  for (std::size_t count = 0; at != 0 && count < kMaxObjects; ++count) {
    const auto entry = memory.read_value<Entry>({at});
    if (!entry.has_value()) {
      return;
    }
    read_object(memory, *entry, last_ns, functions);
    at = entry->next;
  }
}

}  // namespace lumbre
