// PythonCodes: every code object seen, kept by content so that processes share it. One thread.
//
// They come from the kernel program at their first sighting (so that they survive their process);
// what did not fit there, or found no room, is read from the live process.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bpf/abi/events.h"
#include "symbolizer/python/code_object.h"

namespace lumbre {

using PythonCodeIndex = std::uint32_t;

class PythonCodes {
 public:
  PythonCodes();

  void set_layout(std::uint32_t pid, const lumbre_python_layout& layout) {
    layouts_.insert_or_assign(pid, layout);
  }
  void inherit_layout(std::uint32_t parent, std::uint32_t child);
  void forget_process(std::uint32_t pid) { layouts_.erase(pid); }
  const lumbre_python_layout* layout(std::uint32_t pid) const;

  void add(const lumbre_python_code& seen);
  // Index and line of a frame; index 0 is "a code object that could not be read".
  struct Place {
    PythonCodeIndex code = 0;
    std::uint32_t line = 0;
  };
  Place find(std::uint64_t address_space, std::uint32_t pid, const lumbre_python_frame& frame);
  const PythonCode& at(PythonCodeIndex index) const { return codes_[index]; }
  std::uint64_t unreadable() const { return unreadable_; }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // space, code, check
  using Content = std::tuple<std::string, std::string, std::uint32_t, std::string>;

  PythonCodeIndex keep(PythonCode code);
  bool read_live(std::uint32_t pid, std::uint64_t address, PythonCode& code) const;

  std::vector<PythonCode> codes_;
  std::map<Key, PythonCodeIndex> by_address_;
  std::map<Content, PythonCodeIndex> by_content_;
  std::unordered_map<std::uint64_t, std::uint32_t> lines_;  // (code index, offset) -> line
  std::unordered_map<std::uint32_t, lumbre_python_layout> layouts_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace lumbre
