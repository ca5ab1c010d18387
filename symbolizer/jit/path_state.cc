#include "symbolizer/jit/path_state.h"

#include <algorithm>
#include <limits>

namespace lumbre {
namespace {

using Kind = PathValue::Kind;

constexpr PathValue kUnknownValue = {};
constexpr std::int32_t kWordBytes = 8;
constexpr std::size_t kMaxStores = 64;

// What a callee gives back as it was (System V x86-64 ABI).
constexpr std::array<std::uint8_t, 7> kKept = {LUMBRE_RBX, LUMBRE_RBP, LUMBRE_RSP, LUMBRE_R12,
                                               LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};

// The DWARF number of the whole register that a register is part of; none for other kinds.
std::optional<std::uint8_t> number_of(ZydisRegister name) {
  static constexpr std::array<std::uint8_t, 16> kByEncoding = {
      LUMBRE_RAX, LUMBRE_RCX, LUMBRE_RDX, LUMBRE_RBX, LUMBRE_RSP, LUMBRE_RBP,
      LUMBRE_RSI, LUMBRE_RDI, LUMBRE_R8,  LUMBRE_R9,  LUMBRE_R10, LUMBRE_R11,
      LUMBRE_R12, LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) {
    return std::nullopt;
  }
  return kByEncoding[static_cast<std::size_t>(whole - ZYDIS_REGISTER_RAX)];
}

bool is_whole(ZydisRegister name) {
  return name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15;
}

bool is_whole_register(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_whole(operand.reg.value);
}

PathValue shifted(PathValue value, std::int64_t by) {
  const std::int64_t sum = value.offset + by;
  if (value.kind != Kind::kRegister || sum < std::numeric_limits<std::int32_t>::min() ||
      sum > std::numeric_limits<std::int32_t>::max()) {
    return kUnknownValue;
  }
  value.offset = static_cast<std::int32_t>(sum);
  return value;
}

}  // namespace

PathState::PathState() {
  for (std::uint8_t i = 0; i <= kOpaque; ++i) {
    registers_[i] = {Kind::kRegister, i, 0};
  }
}

const PathValue& PathState::value_of(ZydisRegister name) const {
  const auto number = number_of(name);
  return number.has_value() && is_whole(name) ? registers_[*number] : kUnknownValue;
}

// A stack pointer that is not known is still the one that pushes and pops count from.
void PathState::set(ZydisRegister name, const PathValue& value) {
  const auto number = number_of(name);
  if (!number.has_value()) {
    return;
  }
  registers_[*number] = is_whole(name) ? value : kUnknownValue;
  if (*number == LUMBRE_RSP && registers_[LUMBRE_RSP].kind != Kind::kRegister) {
    std::erase_if(stores_, [](const Store& each) { return each.place.base == kOpaque; });
    for (PathValue& each : registers_) {
      each = each.kind != Kind::kUnknown && each.base == kOpaque ? kUnknownValue : each;
    }
    registers_[LUMBRE_RSP] = {Kind::kRegister, kOpaque, 0};
  }
}

PathValue PathState::address_of(const ZydisDecodedOperand& operand) const {
  const auto& memory = operand.mem;
  if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || memory.index != ZYDIS_REGISTER_NONE ||
      memory.segment == ZYDIS_REGISTER_FS || memory.segment == ZYDIS_REGISTER_GS) {
    return kUnknownValue;
  }
  return shifted(value_of(memory.base), memory.disp.value);
}

PathValue PathState::load(const PathValue& place) const {
  if (place.kind != Kind::kRegister) {
    return kUnknownValue;
  }
  const auto found = std::find_if(stores_.rbegin(), stores_.rend(),
                                  [&](const Store& each) { return each.place == place; });
  if (found != stores_.rend()) {
    return found->value;
  }
  return place.base == kOpaque ? kUnknownValue : PathValue{Kind::kSlot, place.base, place.offset};
}

void PathState::store(const PathValue& place, const PathValue& value) {
  if (place.kind != Kind::kRegister) {
    return;  // elsewhere than on the stack, as far as anybody can tell
  }
  std::erase_if(stores_, [&](const Store& each) { return each.place == place; });
  if (stores_.size() >= kMaxStores) {
    stores_.erase(stores_.begin());
  }
  stores_.push_back({place, value});
}

void PathState::move_stack(std::int64_t bytes) {
  set(ZYDIS_REGISTER_RSP, shifted(registers_[LUMBRE_RSP], bytes));
}

void PathState::apply_push(const Instruction& instruction) {
  const ZydisDecodedOperand& what = instruction.operands[0];
  const std::int64_t bytes = instruction.decoded.operand_width / 8;
  const PathValue value = is_whole_register(what) ? value_of(what.reg.value) : kUnknownValue;
  move_stack(-bytes);
  store(registers_[LUMBRE_RSP], value);
}

void PathState::apply_pop(const Instruction& instruction) {
  const ZydisDecodedOperand& where = instruction.operands[0];
  const PathValue value = load(registers_[LUMBRE_RSP]);
  move_stack(instruction.decoded.operand_width / 8);
  if (where.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    set(where.reg.value, value);
  }
}

void PathState::apply_move(const Instruction& instruction) {
  const ZydisDecodedOperand& to = instruction.operands[0];
  const ZydisDecodedOperand& from = instruction.operands[1];
  PathValue value;
  if (is_whole_register(from)) {
    value = value_of(from.reg.value);
  } else if (from.type == ZYDIS_OPERAND_TYPE_MEMORY && from.size == 64) {
    value = load(address_of(from));
  }
  if (to.type == ZYDIS_OPERAND_TYPE_MEMORY) {
    store(address_of(to), value);
  } else if (to.type == ZYDIS_OPERAND_TYPE_REGISTER) {
    set(to.reg.value, value);
  }
}

void PathState::apply_add(const Instruction& instruction, std::int64_t sign) {
  const ZydisDecodedOperand& to = instruction.operands[0];
  const ZydisDecodedOperand& by = instruction.operands[1];
  if (is_whole_register(to) && by.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    set(to.reg.value, shifted(value_of(to.reg.value), sign * by.imm.value.s));
  } else {
    apply_unknown(instruction);
  }
}

void PathState::apply_address(const Instruction& instruction) {
  set(instruction.operands[0].reg.value, address_of(instruction.operands[1]));
}

void PathState::apply_leave() {
  set(ZYDIS_REGISTER_RSP, registers_[LUMBRE_RBP]);
  const PathValue saved = load(registers_[LUMBRE_RSP]);
  move_stack(kWordBytes);
  registers_[LUMBRE_RBP] = saved;
}

void PathState::apply_call() {
  for (std::uint8_t i = 0; i < kOpaque; ++i) {
    if (std::find(kKept.begin(), kKept.end(), i) == kKept.end()) {
      registers_[i] = kUnknownValue;
    }
  }
}

void PathState::apply_unknown(const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.decoded.operand_count; ++i) {
    const ZydisDecodedOperand& operand = instruction.operands[i];
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) {
      continue;
    }
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      set(operand.reg.value, kUnknownValue);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      store(address_of(operand), kUnknownValue);
    }
  }
}

void PathState::apply(const Instruction& instruction) {
  switch (instruction.decoded.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
      return apply_push(instruction);
    case ZYDIS_MNEMONIC_POP:
      return apply_pop(instruction);
    case ZYDIS_MNEMONIC_MOV:
      return apply_move(instruction);
    case ZYDIS_MNEMONIC_LEA:
      return apply_address(instruction);
    case ZYDIS_MNEMONIC_ADD:
      return apply_add(instruction, 1);
    case ZYDIS_MNEMONIC_SUB:
      return apply_add(instruction, -1);
    case ZYDIS_MNEMONIC_LEAVE:
      return apply_leave();
    case ZYDIS_MNEMONIC_CALL:
      return apply_call();
    case ZYDIS_MNEMONIC_PUSHFQ:
      move_stack(-kWordBytes);
      return store(registers_[LUMBRE_RSP], kUnknownValue);
    case ZYDIS_MNEMONIC_POPFQ:
      return move_stack(kWordBytes);
    default:
      return apply_unknown(instruction);
  }
}

std::optional<ReturnRule> PathState::at_return(const Instruction& instruction) {
  ReturnRule rule;
  rule.return_address = load(registers_[LUMBRE_RSP]);
  if (rule.return_address.kind == Kind::kUnknown || rule.return_address.base == kOpaque) {
    return std::nullopt;
  }
  std::int64_t popped = kWordBytes;
  if (instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
    popped += static_cast<std::int64_t>(instruction.operands[0].imm.value.u & 0xffff);
  }
  rule.caller_stack = shifted(registers_[LUMBRE_RSP], popped);
  if (rule.caller_stack.base == kOpaque) {
    rule.caller_stack = kUnknownValue;
  }
  for (const std::uint8_t number : kKept) {
    const PathValue& value = registers_[number];
    const bool is_known = value.kind != Kind::kUnknown && value.base != kOpaque;
    rule.registers[number] = is_known && number != LUMBRE_RSP ? value : kUnknownValue;
  }
  return rule;
}

// A value told by the registers behind this run, told by those before it.
PathValue PathState::translate(const PathValue& later) const {
  if (later.kind == Kind::kUnknown) {
    return later;
  }
  const PathValue base = shifted(registers_[later.base], later.offset);
  if (later.kind == Kind::kSlot) {
    return load(base);
  }
  // A value that this run loaded or copied is passed on as it is.
  return later.offset == 0 ? registers_[later.base] : base;
}

std::optional<ReturnRule> PathState::before(const ReturnRule& after) const {
  ReturnRule rule;
  rule.return_address = translate(after.return_address);
  if (rule.return_address.kind == Kind::kUnknown || rule.return_address.base == kOpaque) {
    return std::nullopt;
  }
  rule.caller_stack = translate(after.caller_stack);
  if (rule.caller_stack.kind != Kind::kRegister || rule.caller_stack.base == kOpaque) {
    rule.caller_stack = kUnknownValue;
  }
  for (const std::uint8_t number : kKept) {
    const PathValue value = translate(after.registers[number]);
    rule.registers[number] = value.base == kOpaque ? kUnknownValue : value;
  }
  return rule;
}

}  // namespace lumbre
