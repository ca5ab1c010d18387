// Programs compiled at test time, and what other tools say about their addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "symbolizer/dwarf/source_lines.h"

namespace lumbre {

// A folder of its own that goes away with it.
class BuildFolder {
 public:
  BuildFolder();
  ~BuildFolder();
  const std::string& path() const { return path_; }
  // Runs a command line there; false (and its messages in `errors`) when it fails.
  bool run(const std::string& command);
  std::string errors() const;

 private:
  std::string path_;
};

bool has_tool(const std::string& name);
std::string read_text(const std::string& path);

// Null when the file is not ELF.
std::shared_ptr<const ElfFile> open_elf(const std::string& path);
// About `count` addresses spread over .text.
std::vector<std::uint64_t> text_addresses(const ElfFile& file, std::size_t count);

// One line of an answer: "file:line" and the name as the tool prints it.
struct OracleFrame {
  std::string function;
  std::string place;
};
using OracleStack = std::vector<OracleFrame>;

// Answers of "addr2line" or "llvm-symbolizer", one stack per address.
std::vector<OracleStack> ask_oracle(BuildFolder& folder, const std::string& oracle,
                                    const std::string& program,
                                    const std::vector<std::uint64_t>& addresses);

}  // namespace lumbre
