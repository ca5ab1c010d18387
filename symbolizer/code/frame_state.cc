#include "symbolizer/code/frame_state.h"

#include <algorithm>

#include "bpf/abi/tables.h"

namespace lumbre {
namespace {

using Kind = SymbolicValue::Kind;

constexpr std::int64_t kWordBytes = 8;
// What lies below the stack pointer by more than this may be overwritten at any time (System V
// x86-64 ABI, section 3.2.2).
constexpr std::int64_t kRedZoneBytes = 128;
constexpr std::uint8_t kKept[] = {LUMBRE_RBX, LUMBRE_RBP, LUMBRE_R12,
                                  LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};
constexpr std::uint8_t kLostByCall[] = {LUMBRE_RAX, LUMBRE_RDX, LUMBRE_RCX, LUMBRE_RSI, LUMBRE_RDI,
                                        LUMBRE_R8,  LUMBRE_R9,  LUMBRE_R10, LUMBRE_R11};
// Sums beyond this come of hostile code.
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 40;

SymbolicValue plus(SymbolicValue value, std::int64_t bytes) {
  const bool has_offset = value.is_address() || value.kind == Kind::kConstant;
  if (bytes == 0) {
    return value;
  }
  if (!has_offset || bytes > kMaxOffset || bytes < -kMaxOffset || value.offset > kMaxOffset ||
      value.offset < -kMaxOffset) {
    return {};
  }
  value.offset += bytes;
  return value;
}

bool is_same_base(const SymbolicValue& left, const SymbolicValue& right) {
  return left.kind == right.kind && left.id == right.id;
}

bool is_worth_keeping(const SymbolicValue& value) {
  return value.kind == Kind::kEntry || value.is_address();
}

}  // namespace

FrameState FrameState::at_entry() {
  FrameState state;
  for (const std::uint8_t number : kKept) {
    state.registers_[number] = {Kind::kEntry, number, 0};
  }
  state.registers_[LUMBRE_RSP] = {Kind::kFrame, 0, -kWordBytes};
  return state;
}

bool FrameState::is_at_return() const {
  return registers_[LUMBRE_RSP] == SymbolicValue{Kind::kFrame, 0, -kWordBytes};
}

SymbolicValue FrameState::place_of(const MemoryPlace& place) const {
  if (place.base == kNoRegister || place.has_index) {
    return {};
  }
  const SymbolicValue address = plus(registers_[place.base], place.offset);
  return address.is_address() ? address : SymbolicValue{};
}

SymbolicValue FrameState::load(const SymbolicValue& address) const {
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [&](const Slot& slot) { return slot.address == address; });
  return found == slots_.end() ? SymbolicValue{} : found->value;
}

void FrameState::store(const SymbolicValue& address, unsigned size_bytes,
                       const SymbolicValue& value) {
  if (!address.is_address()) {
    return;
  }
  std::erase_if(slots_, [&](const Slot& slot) {
    return is_same_base(slot.address, address) &&
           slot.address.offset < address.offset + std::int64_t{size_bytes} &&
           slot.address.offset + kWordBytes > address.offset;
  });
  if (size_bytes == kWordBytes && is_worth_keeping(value) && slots_.size() < kMaxSlots) {
    slots_.push_back({address, value});
  }
}

void FrameState::set(std::uint8_t number, const SymbolicValue& value) {
  if (number == kNoRegister) {
    return;
  }
  registers_[number] = value;
}

void FrameState::forget_base(std::uint64_t id) {
  const auto is_of_base = [id](const SymbolicValue& value) {
    return value.kind == Kind::kBase && value.id == id;
  };
  for (SymbolicValue& value : registers_) {
    value = is_of_base(value) ? SymbolicValue{} : value;
  }
  std::erase_if(
      slots_, [&](const Slot& slot) { return is_of_base(slot.address) || is_of_base(slot.value); });
}

// In a loop the same instruction makes another address each time.
void FrameState::set_new_base(std::uint8_t number, std::uint64_t id) {
  forget_base(id);
  registers_[number] = {Kind::kBase, id, 0};
}

void FrameState::push(const SymbolicValue& value) {
  SymbolicValue& top = registers_[LUMBRE_RSP];
  top = plus(top, -kWordBytes);
  store(top, kWordBytes, value);
}

SymbolicValue FrameState::pop() {
  SymbolicValue& top = registers_[LUMBRE_RSP];
  const SymbolicValue value = load(top);
  top = plus(top, kWordBytes);
  return value;
}

void FrameState::apply_call() {
  for (const std::uint8_t number : kLostByCall) {
    registers_[number] = {};
  }
  const SymbolicValue top = registers_[LUMBRE_RSP];
  std::erase_if(slots_, [&](const Slot& slot) {
    return is_same_base(slot.address, top) && slot.address.offset < top.offset;
  });
}

void FrameState::apply_sum(const Instruction& instruction, std::uint64_t address) {
  const SymbolicValue left = registers_[instruction.target];
  const SymbolicValue right =
      instruction.source == kNoRegister ? SymbolicValue{} : registers_[instruction.source];
  const auto is_table_sum = [](const SymbolicValue& entry, const SymbolicValue& base) {
    return entry.kind == Kind::kTableEntry && base.kind == Kind::kConstant;
  };
  if (is_table_sum(left, right)) {
    registers_[instruction.target] = {Kind::kTableTarget, left.id, right.offset};
  } else if (is_table_sum(right, left)) {
    registers_[instruction.target] = {Kind::kTableTarget, right.id, left.offset};
  } else if (left.is_address() && right.kind == Kind::kConstant) {
    registers_[instruction.target] = plus(left, right.offset);
  } else if (left.is_address()) {
    set_new_base(instruction.target, address);
  } else {
    registers_[instruction.target] = {};
  }
}

void FrameState::apply_other(const Instruction& instruction, std::uint64_t address) {
  const MemoryPlace& place = instruction.address;
  if (place.size_bytes != 0) {
    store(place_of(place), place.size_bytes, {});
  }
  for (std::uint8_t number = 0; number < kGeneralRegisters; ++number) {
    if ((instruction.written >> number & 1) == 0) {
      continue;
    }
    if (number == LUMBRE_RSP) {
      set_new_base(number, address);
    } else {
      registers_[number] = {};
    }
  }
}

bool FrameState::apply_equality() {
  if (compared_left_ == kNoRegister || compared_right_ == kNoRegister) {
    return true;
  }
  SymbolicValue& left = registers_[compared_left_];
  SymbolicValue& right = registers_[compared_right_];
  if (left.kind == Kind::kFrame && right.kind == Kind::kFrame) {
    return left == right;
  }
  if (left.kind == Kind::kFrame) {
    right = left;
  } else if (right.kind == Kind::kFrame) {
    left = right;
  }
  return true;
}

void FrameState::forget_passing_values() {
  for (const std::uint8_t number : kLostByCall) {
    registers_[number] = {};
  }
  compared_constant_.reset();
  compared_left_ = compared_right_ = kNoRegister;
}

void FrameState::apply(const Instruction& instruction, std::uint64_t address) {
  using enum InstructionKind;
  const bool was_after_call = is_after_call_;
  const bool keeps_flags = instruction.kind == kConditionalJump || instruction.kind == kNothing;
  is_after_call_ = false;
  if (!keeps_flags) {
    compared_left_ = compared_right_ = kNoRegister;
  }
  switch (instruction.kind) {
    case kOther:
      apply_other(instruction, address);
      break;
    case kNothing:
      is_after_call_ = was_after_call;
      break;
    case kAdd:
      set(instruction.target, plus(registers_[instruction.source], instruction.immediate));
      break;
    case kConstant:
      set(instruction.target, {Kind::kConstant, 0, instruction.immediate});
      break;
    case kAlign:
      if (registers_[instruction.target].is_address()) {
        set_new_base(instruction.target, address);
      } else {
        set(instruction.target, {});
      }
      break;
    case kSum:
      apply_sum(instruction, address);
      break;
    case kLoad:
      set(instruction.target, load(place_of(instruction.address)));
      break;
    case kLoadTableEntry: {
      const MemoryPlace& place = instruction.address;
      const SymbolicValue table =
          place.base == kNoRegister ? SymbolicValue{Kind::kConstant, 0, 0} : registers_[place.base];
      const bool is_known = table.kind == Kind::kConstant;
      set(instruction.target, is_known ? SymbolicValue{Kind::kTableEntry,
                                                       static_cast<std::uint64_t>(table.offset) +
                                                           static_cast<std::uint64_t>(place.offset),
                                                       0}
                                       : SymbolicValue{});
      break;
    }
    case kStore:
      store(place_of(instruction.address), kWordBytes, registers_[instruction.source]);
      break;
    case kPush:
      push(instruction.source == kNoRegister ? SymbolicValue{} : registers_[instruction.source]);
      break;
    case kPop:
      set(instruction.target, pop());
      break;
    case kLeave:
      registers_[LUMBRE_RSP] = registers_[LUMBRE_RBP];
      set(LUMBRE_RBP, pop());
      break;
    case kCompareConstant:
      compared_constant_ = instruction.immediate;
      break;
    case kCompareRegisters:
      compared_left_ = instruction.target;
      compared_right_ = instruction.source;
      break;
    case kCall:
      apply_call();
      is_after_call_ = true;
      break;
    default:
      break;
  }
  if (!registers_[LUMBRE_RSP].is_address()) {
    set_new_base(LUMBRE_RSP, address);
  }
}

// Whether the CFA is known without the stack pointer.
bool FrameState::has_frame_register() const {
  for (std::uint8_t number = 0; number < kGeneralRegisters; ++number) {
    if (number != LUMBRE_RSP && registers_[number].kind == Kind::kFrame) {
      return true;
    }
  }
  return false;
}

void FrameState::join_registers(const FrameState& other) {
  for (std::uint8_t number = 0; number < kGeneralRegisters; ++number) {
    if (number != LUMBRE_RSP && registers_[number] != other.registers_[number]) {
      registers_[number] = {};
    }
  }
  if (compared_constant_ != other.compared_constant_) {
    compared_constant_.reset();
  }
  if (compared_left_ != other.compared_left_ || compared_right_ != other.compared_right_) {
    compared_left_ = compared_right_ = kNoRegister;
  }
}

// Slots that both paths know at the same distance from their stack pointers, which differ: they are
// known at that distance from a new base.
void FrameState::rebase_slots(const FrameState& other, std::uint64_t id) {
  const SymbolicValue own_top = registers_[LUMBRE_RSP];
  const SymbolicValue other_top = other.registers_[LUMBRE_RSP];
  std::vector<Slot> rebased;
  for (const Slot& slot : slots_) {
    if (!is_same_base(slot.address, own_top)) {
      continue;
    }
    const std::int64_t distance = slot.address.offset - own_top.offset;
    if (other.load(plus(other_top, distance)) == slot.value) {
      rebased.push_back({{Kind::kBase, id, distance}, slot.value});
    }
  }
  std::erase_if(slots_, [&](const Slot& slot) { return other.load(slot.address) != slot.value; });
  forget_base(id);
  registers_[LUMBRE_RSP] = {Kind::kBase, id, 0};
  for (const Slot& slot : rebased) {
    if (slots_.size() < kMaxSlots && !(slot.value.kind == Kind::kBase && slot.value.id == id)) {
      slots_.push_back(slot);
    }
  }
}

bool FrameState::join_stack_pointer(const FrameState& other, std::uint64_t address) {
  const std::uint64_t id = ~address;  // no instruction's
  FrameState merged = *this;
  merged.rebase_slots(other, id);
  const bool has_slot =
      std::any_of(merged.slots_.begin(), merged.slots_.end(), [id](const Slot& slot) {
        return slot.address.kind == Kind::kBase && slot.address.id == id &&
               slot.value.kind == Kind::kFrame;
      });
  if (!has_slot && !merged.has_frame_register()) {
    is_guess_ = true;  // the paths disagree: the first one's height is kept
    return false;
  }
  *this = merged;
  return true;
}

bool FrameState::join(const FrameState& other, std::uint64_t address) {
  const FrameState before = *this;
  const bool differs = registers_[LUMBRE_RSP] != other.registers_[LUMBRE_RSP];
  if (differs && is_after_call_ != other.is_after_call_) {
    // One of the two ways here is behind a call that never returns.
    if (is_after_call_) {
      *this = other;
      return true;
    }
    return false;
  }
  is_guess_ = is_guess_ || other.is_guess_;
  is_after_call_ = is_after_call_ && other.is_after_call_;
  join_registers(other);
  if (!differs || !join_stack_pointer(other, address)) {
    std::erase_if(slots_, [&](const Slot& slot) { return other.load(slot.address) != slot.value; });
  }
  return !(*this == before);
}

}  // namespace lumbre
