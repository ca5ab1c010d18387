#include "source_lines_fixture.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace lumbre {
namespace {

void write_addresses(const std::string& path, const std::vector<std::uint64_t>& addresses) {
  std::ofstream file(path);
  for (const std::uint64_t address : addresses) {
    file << "0x" << std::hex << address << "\n";
  }
}

// "file:12 (discriminator 3)" and "file:?" to "file:12" and "file:0".
std::string plain_place(std::string place) {
  place = place.substr(0, place.find(" (discriminator"));
  if (place.ends_with(":?")) {
    place.back() = '0';
  }
  return place;
}

// Lines after a line with an address: a name and a place for each frame.
std::vector<OracleStack> parse_answers(const std::string& text, bool has_columns) {
  std::vector<OracleStack> stacks;
  std::istringstream lines(text);
  std::string line, name;
  while (std::getline(lines, line)) {
    if (line.starts_with("0x") && line.find(':') == std::string::npos) {
      stacks.emplace_back();
      name.clear();
    } else if (line.empty() || stacks.empty()) {
      continue;
    } else if (name.empty()) {
      name = line;
    } else {
      std::string place = plain_place(line);
      stacks.back().push_back({name, has_columns ? place.substr(0, place.rfind(':')) : place});
      name.clear();
    }
  }
  return stacks;
}

}  // namespace

BuildFolder::BuildFolder() {
  std::string pattern = ::testing::TempDir() + "lumbre-lines-XXXXXX";
  path_ = ::mkdtemp(pattern.data());
}
BuildFolder::~BuildFolder() { std::filesystem::remove_all(path_); }

bool BuildFolder::run(const std::string& command) {
  return std::system(("cd " + path_ + " && (" + command + ") 2>errors.txt").c_str()) == 0;
}
std::string BuildFolder::errors() const { return read_text(path_ + "/errors.txt"); }

bool has_tool(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::shared_ptr<const ElfFile> open_elf(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped.has_value()) {
    return nullptr;
  }
  auto file = ElfFile::parse(std::move(*mapped));
  return file.has_value() ? *file : nullptr;
}

std::vector<std::uint64_t> text_addresses(const ElfFile& file, std::size_t count) {
  std::vector<std::uint64_t> addresses;
  const ElfFile::Section* text = file.find_section(".text");
  if (text == nullptr) {
    return addresses;
  }
  const std::uint64_t step = std::max<std::uint64_t>(1, text->size_bytes / count);
  for (std::uint64_t offset = 0; offset < text->size_bytes; offset += step) {
    addresses.push_back(text->address.value + offset);
  }
  return addresses;
}

std::vector<OracleStack> ask_oracle(BuildFolder& folder, const std::string& oracle,
                                    const std::string& program,
                                    const std::vector<std::uint64_t>& addresses) {
  const bool is_llvm = oracle == "llvm-symbolizer";
  const std::string arguments =
      is_llvm ? " --addresses --inlines --no-demangle --obj=" : " -a -f -i -e ";
  write_addresses(folder.path() + "/addresses", addresses);
  folder.run(oracle + arguments + program + " <addresses >answers");
  return parse_answers(read_text(folder.path() + "/answers"), is_llvm);
}

}  // namespace lumbre
