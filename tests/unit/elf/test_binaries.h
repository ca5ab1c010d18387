// Small programs for the ELF tests, compiled when they run, and what binutils say of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// What a shell command printed; empty and false in `succeeded` when it failed.
std::string output_of(const std::string& command, bool* succeeded = nullptr);
bool has_tool(const std::string& name);

void write_file(const std::string& path, const std::string& content);
std::string read_file(const std::string& path);

// A C++ program with static, weak, inlined-away and library functions; links with `flags`.
// Empty when the compiler or a library for these flags is missing.
std::string build_program(const TemporaryFolder& folder, const std::string& name,
                          const std::string& flags);

// One line of nm.
struct NmSymbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  char type = 0;
  std::string name;
};
std::vector<NmSymbol> nm(const std::string& path, const std::string& flags = "");

std::shared_ptr<ElfFile> open_elf(const std::string& path);  // null and a failure when it fails

}  // namespace lumbre
