// ReturnPath: how a function returns, found by following its machine code from an address to the
// `ret` that ends it. Where nothing else says how to find the caller, this does: on the way to the
// return every push, pop and move of the stack pointer must be undone, so that the path says where
// the return address and the saved registers lie now. x86-64 only.
//
// Knows no functions and no symbols, and needs none: code that jumps through a register has no path
// (then there is no answer). Callees are taken to leave the stack pointer, rbx, rbp and r12-r15 as
// they were. The answer is as good as the code: whoever uses it checks that a call stands before
// the return address. Each byte of code is decoded about once: answers at branch targets and every
// kBlockBytes are kept until forget(). One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "bpf/abi/tables.h"

namespace lumbre {

// What a register holds, told by what the registers hold at the address that was asked about.
struct PathValue {
  enum class Kind : std::uint8_t {
    kUnknown,
    kRegister,  // register + offset
    kSlot       // the 8 bytes of memory at register + offset
  };
  Kind kind = Kind::kUnknown;
  std::uint8_t base = 0;  // DWARF number
  std::int32_t offset = 0;
  bool operator==(const PathValue&) const = default;
};

struct ReturnRule {
  PathValue return_address;
  PathValue caller_stack;  // rsp behind the return; unknown where a count in a register decides
  std::array<PathValue, LUMBRE_REGISTER_COUNT> registers;  // rbx, rbp, r12-r15; others unknown
};

class ReturnPaths {
 public:
  // Copies code from an address on; how many bytes it could (fewer at the end of what is readable).
  using CodeReader = std::function<std::size_t(std::uint64_t address, std::span<std::byte> into)>;

  static constexpr unsigned kMaxInstructions = 40'000;  // for one question
  static constexpr unsigned kMaxDepth = 2'000;          // blocks on one path
  static constexpr std::uint64_t kBlockBytes = 256;
  static constexpr std::size_t kMaxKept = 65'536;

  explicit ReturnPaths(CodeReader reader);
  ~ReturnPaths();
  ReturnPaths(ReturnPaths&&) noexcept;

  // The address must be that of an instruction.
  std::optional<ReturnRule> find(std::uint64_t address);
  void forget();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lumbre
