#include "symbolizer/jit/gdb_jit.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace lumbre {
namespace {

constexpr std::uint64_t kTextAddress = 0x7f0000001000;
constexpr std::uint64_t kNow = 1000;

// An object of one function "f" at 16 bytes into a section that was loaded at kTextAddress.
std::string make_object() {
  const std::string names("\0f\0", 3);
  Elf64_Sym symbols[2] = {};
  symbols[1].st_name = 1;
  symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  symbols[1].st_shndx = 1;
  symbols[1].st_value = 16;
  symbols[1].st_size = 32;
  const std::string section_names("\0.text\0.symtab\0.strtab\0", 23);
  std::string object(sizeof(Elf64_Ehdr), '\0');
  const auto put = [&](const void* data, std::size_t size) {
    const std::size_t at = object.size();
    object.append(static_cast<const char*>(data), size);
    return at;
  };
  Elf64_Shdr sections[4] = {};
  sections[1].sh_name = 1;
  sections[1].sh_type = SHT_NOBITS;
  sections[1].sh_addr = kTextAddress;
  sections[1].sh_size = 4096;
  sections[2].sh_name = 7;
  sections[2].sh_type = SHT_SYMTAB;
  sections[2].sh_offset = put(symbols, sizeof(symbols));
  sections[2].sh_size = sizeof(symbols);
  sections[2].sh_entsize = sizeof(Elf64_Sym);
  sections[2].sh_link = 3;
  std::string strings = section_names + names;
  sections[3].sh_name = 15;
  sections[3].sh_type = SHT_STRTAB;
  sections[3].sh_offset = put(strings.data(), strings.size());
  sections[3].sh_size = strings.size();
  symbols[1].st_name = static_cast<Elf64_Word>(section_names.size() + 1);
  std::memcpy(object.data() + sections[2].sh_offset, symbols, sizeof(symbols));
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  header.e_shoff = put(sections, sizeof(sections));
  std::memcpy(object.data(), &header, sizeof(header));
  return object;
}

// Memory at the addresses that it has here.
class OwnMemory : public ProcessMemory {
 public:
  Result<void> read(ProcessAddress address, std::span<std::byte> into) const override {
    if (address.value < 4096) {
      return Error::not_found("nothing there");
    }
    std::memcpy(into.data(), reinterpret_cast<const void*>(address.value), into.size());
    return {};
  }
};

struct Entry {
  Entry* next = nullptr;
  Entry* previous = nullptr;
  const char* object = nullptr;
  std::uint64_t size_bytes = 0;
};
struct Descriptor {
  std::uint32_t version = 1, action = 0;
  Entry* relevant = nullptr;
  Entry* first = nullptr;
};

ProcessAddress address_of(const void* pointer) {
  return {reinterpret_cast<std::uint64_t>(pointer)};
}

TEST(GdbJit, NamesTheFunctionsOfARegisteredObject) {
  const std::string object = make_object();
  Entry entry{nullptr, nullptr, object.data(), object.size()};
  Descriptor descriptor;
  descriptor.first = &entry;
  JitFunctions functions;
  GdbJit(address_of(&descriptor)).read(OwnMemory(), 0, functions);
  const JitFunction* found = functions.find({kTextAddress + 20}, kNow);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, "f");
  EXPECT_EQ(found->start.value, kTextAddress + 16);
}

TEST(GdbJit, EndsOnAListThatBitesItsTail) {
  Entry entry;
  entry.next = &entry;
  Descriptor descriptor;
  descriptor.first = &entry;
  JitFunctions functions;
  GdbJit(address_of(&descriptor)).read(OwnMemory(), 0, functions);
  EXPECT_EQ(functions.size(), 0U);
}

TEST(GdbJit, BelievesNoSize) {
  const std::string object = make_object();
  Entry entry{nullptr, nullptr, object.data(), ~std::uint64_t{0}};
  Descriptor descriptor;
  descriptor.first = &entry;
  JitFunctions functions;
  GdbJit(address_of(&descriptor)).read(OwnMemory(), 0, functions);
  EXPECT_EQ(functions.size(), 0U);
}

TEST(GdbJit, FindsNoFunctionsInWhatIsNoObject) {
  EXPECT_TRUE(functions_of_object("").empty());
  EXPECT_TRUE(functions_of_object(std::string(1000, 'x')).empty());
  std::string cut = make_object();
  cut.resize(cut.size() / 2);
  EXPECT_TRUE(functions_of_object(cut).empty());
}

}  // namespace
}  // namespace lumbre
