#include "test_binaries.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace lumbre {
namespace {

constexpr const char* kProgram = R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
namespace work {
int data_object = 7;
__attribute__((noinline)) static int hidden(int x) { return x * 3 + std::rand(); }
__attribute__((noinline, weak)) int overridable(int x) { return hidden(x) + 1; }
template <typename T> __attribute__((noinline)) T generic(T x) { return x + overridable(3); }
}
extern "C" __attribute__((noinline)) int exported_alias_target(int x) { return work::hidden(x); }
extern "C" int exported_alias(int) __attribute__((alias("exported_alias_target"), weak));
int main(int argc, char** argv) {
  std::string text(argv[0]);
  std::printf("%d %zu\n", work::generic(argc) + exported_alias(argc), std::strlen(text.c_str()));
  return work::data_object == 7 ? 0 : 1;
}
)";

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lumbre-elf-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string output_of(const std::string& command, bool* succeeded) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  for (std::size_t count = 1; pipe != nullptr && count > 0;) {
    count = std::fread(buffer.data(), 1, buffer.size(), pipe);
    text.append(buffer.data(), count);
  }
  const bool is_good = pipe != nullptr && ::pclose(pipe) == 0;
  if (succeeded != nullptr) {
    *succeeded = is_good;
  }
  return is_good ? text : std::string();
}

bool has_tool(const std::string& name) {
  bool has = false;
  output_of("command -v " + name + " >/dev/null 2>&1", &has);
  return has;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string build_program(const TemporaryFolder& folder, const std::string& name,
                          const std::string& flags) {
  // Compiling takes half a second; tests get copies of what was compiled with the same flags.
  static const TemporaryFolder built_folder;
  static std::map<std::string, std::string> built;
  if (built.count(flags) == 0) {
    const std::string source = built_folder.file("program.cc");
    const std::string program = built_folder.file(std::to_string(built.size()));
    write_file(source, kProgram);
    bool is_built = false;
    output_of("g++ -O1 -o " + program + " " + source + " " + flags + " 2>/dev/null", &is_built);
    built[flags] = is_built ? program : std::string();
  }
  std::error_code error;
  std::filesystem::copy_file(built[flags], folder.file(name),
                             std::filesystem::copy_options::overwrite_existing, error);
  return error ? std::string() : folder.file(name);
}

std::vector<NmSymbol> nm(const std::string& path, const std::string& flags) {
  std::vector<NmSymbol> symbols;
  std::istringstream lines(output_of("nm --defined-only -S " + flags + " " + path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> parts;
    for (std::string word; words >> word;) {
      parts.push_back(word);
    }
    if (parts.size() != 3 && parts.size() != 4) {
      continue;
    }
    NmSymbol symbol;
    symbol.address = std::stoull(parts[0], nullptr, 16);
    symbol.size = parts.size() == 4 ? std::stoull(parts[1], nullptr, 16) : 0;
    symbol.type = parts[parts.size() - 2][0];
    symbol.name = parts.back().substr(0, parts.back().find('@'));
    symbols.push_back(symbol);
  }
  return symbols;
}

std::shared_ptr<ElfFile> open_elf(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped.has_value()) {
    ADD_FAILURE() << mapped.error().message;
    return nullptr;
  }
  auto parsed = ElfFile::parse(std::move(mapped).value());
  if (!parsed.has_value()) {
    ADD_FAILURE() << path << ": " << parsed.error().message;
    return nullptr;
  }
  return std::move(parsed).value();
}

}  // namespace lumbre
