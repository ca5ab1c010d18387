// GdbJit: functions of the objects that a process has registered for debuggers, as LLVM's JIT
// engines do (numba, among others): `__jit_debug_descriptor` leads to a linked list of ELF files in
// its memory (GDB manual, "JIT Compilation Interface").
//
// The list is read from the live process while it may be changing, and may be hostile: it is
// bounded in length and bytes, and an object that does not parse has no functions. One thread.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "symbolizer/jit/functions.h"
#include "symbolizer/procfs/memory.h"

namespace lumbre {

// The function symbols of an object, whose sections say where they are in memory.
std::vector<JitFunction> functions_of_object(std::string bytes);

class GdbJit {
 public:
  static constexpr std::size_t kMaxObjects = 4096;
  static constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{16} << 20;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{128} << 20;  // all objects together

  explicit GdbJit(ProcessAddress descriptor) : descriptor_(descriptor) {}

  // Adds what was registered since the last time. Where it takes another function's place, it did
  // so after `last_ns`.
  void read(const ProcessMemory& memory, std::uint64_t last_ns, JitFunctions& functions);

 private:
  struct Entry {  // struct jit_code_entry
    std::uint64_t next = 0, previous = 0, object = 0, size_bytes = 0;
  };
  void read_object(const ProcessMemory& memory, const Entry& entry, std::uint64_t last_ns,
                   JitFunctions& functions);

  ProcessAddress descriptor_;
  std::uint64_t last_first_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;  // address and size of objects
  std::uint64_t read_bytes_ = 0;
};

}  // namespace lumbre
