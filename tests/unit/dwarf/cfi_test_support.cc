#include "tests/unit/dwarf/cfi_test_support.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstring>
#include <fstream>
#include <sstream>

namespace lumbre {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string path_of_module(const std::string& part_of_name) {
  struct Search {
    const std::string& part;
    std::string found;
  } search{part_of_name, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        if (std::strstr(info->dlpi_name, wanted->part.c_str()) == nullptr) {
          return 0;
        }
        wanted->found = info->dlpi_name;
        return 1;
      },
      &search);
  EXPECT_NE(search.found, "") << part_of_name << " is not loaded";
  return search.found;
}

std::string vdso_image() {
  const auto address = getauxval(AT_SYSINFO_EHDR);
  if (address == 0) {
    return "";
  }
  const auto* bytes = reinterpret_cast<const char*>(address);
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(address);
  return {bytes, header->e_shoff + std::size_t{header->e_shnum} * header->e_shentsize};
}

std::shared_ptr<const ElfFile> parse_image(const std::string& image) {
  auto file = ElfFile::parse(MappedFile::from_bytes(image));
  EXPECT_TRUE(file.has_value());
  return file.has_value() ? *file : nullptr;
}

CfiSection whole_section(const ElfFile& file, CfiSection::Kind kind) {
  const char* name = kind == CfiSection::Kind::kEhFrame ? ".eh_frame" : ".debug_frame";
  const auto* section = file.find_section(name);
  if (section == nullptr) {
    return {};
  }
  PointerBases bases;
  bases.section_address = kind == CfiSection::Kind::kEhFrame ? section->address.value : 0;
  return {kind, file.section_data(name), bases};
}

}  // namespace lumbre
