// FrameState: what is known of a function's registers and stack slots at one of its instructions.
//
// Values are symbolic: what a register held at the entry, a distance from the CFA, a distance from
// some unknown address (a realigned stack pointer), a constant. One thread per state; no allocation
// beyond its slots, which are at most kMaxSlots.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/code/instruction.h"

namespace lumbre {

struct SymbolicValue {
  enum class Kind : std::uint8_t {
    kUnknown,
    kEntry,       // the value of register `id` at the entry
    kFrame,       // CFA + offset
    kBase,        // an address not known, made by the instruction at `id`, + offset
    kConstant,    // offset
    kTableEntry,  // an entry of the table at `id`, 4 bytes each
    kTableTarget  // such an entry + offset
  };
  Kind kind = Kind::kUnknown;
  std::uint64_t id = 0;
  std::int64_t offset = 0;
  bool operator==(const SymbolicValue&) const = default;
  bool is_address() const { return kind == Kind::kFrame || kind == Kind::kBase; }
};

class FrameState {
 public:
  static constexpr std::size_t kMaxSlots = 48;
  struct Slot {  // 8 bytes of the stack
    SymbolicValue address, value;
    bool operator==(const Slot&) const = default;
  };

  static FrameState at_entry();

  void apply(const Instruction& instruction, std::uint64_t address);
  // The way of a conditional jump on which two registers were equal; false if they cannot be.
  bool apply_equality();
  // As at a place of which nothing but the frame is known.
  void forget_passing_values();
  // Takes in another path's state at the same place; false if nothing changed.
  bool join(const FrameState& other, std::uint64_t address);

  const SymbolicValue& value(std::uint8_t number) const { return registers_[number]; }
  const std::vector<Slot>& slots() const { return slots_; }
  bool is_guess() const { return is_guess_; }
  void set_guess() { is_guess_ = true; }
  // Of the last comparison with a constant: bounds a jump table.
  std::optional<std::int64_t> compared_constant() const { return compared_constant_; }
  // Whether the function could return here.
  bool is_at_return() const;

 private:
  SymbolicValue place_of(const MemoryPlace& place) const;
  SymbolicValue load(const SymbolicValue& address) const;
  void store(const SymbolicValue& address, unsigned size_bytes, const SymbolicValue& value);
  void set(std::uint8_t number, const SymbolicValue& value);
  void set_new_base(std::uint8_t number, std::uint64_t id);
  void forget_base(std::uint64_t id);
  void move_stack_pointer(std::int64_t bytes);
  void push(const SymbolicValue& value);
  SymbolicValue pop();
  void apply_call();
  void apply_sum(const Instruction& instruction, std::uint64_t address);
  void apply_other(const Instruction& instruction, std::uint64_t address);
  bool has_frame_register() const;
  void join_registers(const FrameState& other);
  bool join_stack_pointer(const FrameState& other, std::uint64_t address);
  void rebase_slots(const FrameState& other, std::uint64_t id);
  bool operator==(const FrameState&) const = default;

  std::array<SymbolicValue, kGeneralRegisters> registers_;
  std::vector<Slot> slots_;
  std::optional<std::int64_t> compared_constant_;
  std::uint8_t compared_left_ = kNoRegister, compared_right_ = kNoRegister;
  bool is_after_call_ = false;  // a call that never returns would not lead here
  bool is_guess_ = false;
};

}  // namespace lumbre
