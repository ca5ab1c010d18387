// PathState: what the registers and the stack hold after a run of instructions, told by what the
// registers held before it. One instruction at a time; anything it does not understand makes the
// registers that the instruction writes unknown. Part of ReturnPaths.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <vector>

#include "symbolizer/jit/return_path.h"

namespace lumbre {

struct Instruction {
  std::uint64_t address = 0;
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  std::uint64_t end() const { return address + decoded.length; }
};

class PathState {
 public:
  // Beside the sixteen registers: an address that is not known but stays the same for a while.
  static constexpr std::uint8_t kOpaque = 16;

  PathState();

  void apply(const Instruction& instruction);
  // At a `ret`: what it does, or none where it is not known where the return address is.
  std::optional<ReturnRule> at_return(const Instruction& instruction);
  // What a rule that holds behind this run is before it.
  std::optional<ReturnRule> before(const ReturnRule& after) const;

 private:
  struct Store {
    PathValue place;  // kRegister
    PathValue value;
  };

  const PathValue& value_of(ZydisRegister name) const;
  void set(ZydisRegister name, const PathValue& value);
  PathValue address_of(const ZydisDecodedOperand& memory) const;
  PathValue load(const PathValue& place) const;
  void store(const PathValue& place, const PathValue& value);
  void move_stack(std::int64_t bytes);
  PathValue translate(const PathValue& later) const;

  void apply_push(const Instruction& instruction);
  void apply_pop(const Instruction& instruction);
  void apply_move(const Instruction& instruction);
  void apply_add(const Instruction& instruction, std::int64_t sign);
  void apply_address(const Instruction& instruction);
  void apply_leave();
  void apply_call();
  void apply_unknown(const Instruction& instruction);

  std::array<PathValue, kOpaque + 1> registers_;
  std::vector<Store> stores_;
};

}  // namespace lumbre
