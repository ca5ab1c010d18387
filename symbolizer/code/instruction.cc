#include "symbolizer/code/instruction.h"

#include <Zydis/Zydis.h>

#include <array>

#include "bpf/abi/tables.h"

namespace lumbre {
namespace {

using Kind = InstructionKind;

constexpr std::uint16_t kWholeBits = 64;
constexpr std::uint16_t kWordBytes = 8;

ZydisDecoder make_decoder() {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

// The DWARF number of the general register that holds `name`, or kNoRegister.
std::uint8_t number_of(ZydisRegister name) {
  static constexpr std::array<std::uint8_t, kGeneralRegisters> kByEncoding = {
      LUMBRE_RAX, LUMBRE_RCX, LUMBRE_RDX, LUMBRE_RBX, LUMBRE_RSP, LUMBRE_RBP,
      LUMBRE_RSI, LUMBRE_RDI, LUMBRE_R8,  LUMBRE_R9,  LUMBRE_R10, LUMBRE_R11,
      LUMBRE_R12, LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) {
    return kNoRegister;
  }
  return kByEncoding[static_cast<std::size_t>(whole - ZYDIS_REGISTER_RAX)];
}

// One instruction with its operands while it is translated.
class Translation {
 public:
  Translation(const ZydisDecodedInstruction& raw, const ZydisDecodedOperand* operands,
              std::uint64_t address)
      : raw_(raw), operands_(operands), address_(address) {}

  Instruction run() {
    result_.length = raw_.length;
    for (unsigned i = 0; i < raw_.operand_count; ++i) {
      note_write(operands_[i]);
    }
    if (!translate_flow() && !translate_stack() && raw_.operand_count_visible >= 2) {
      translate_two_operands();
    }
    return result_;
  }

 private:
  bool is_register(unsigned i) const {  // a whole general one
    return operands_[i].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[i].size == kWholeBits &&
           number_of(operands_[i].reg.value) != kNoRegister;
  }
  std::uint8_t register_of(unsigned i) const { return number_of(operands_[i].reg.value); }
  bool is_constant(unsigned i) const { return operands_[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE; }
  bool is_memory(unsigned i) const { return operands_[i].type == ZYDIS_OPERAND_TYPE_MEMORY; }

  // The thread's own segments are no part of the stack.
  static bool is_in_thread_segment(const ZydisDecodedOperand& operand) {
    return operand.mem.segment == ZYDIS_REGISTER_FS || operand.mem.segment == ZYDIS_REGISTER_GS;
  }

  MemoryPlace place_of(const ZydisDecodedOperand& operand) const {
    MemoryPlace place;
    if (is_in_thread_segment(operand)) {
      return place;
    }
    place.base = number_of(operand.mem.base);
    place.has_index = operand.mem.index != ZYDIS_REGISTER_NONE;
    place.size_bytes = static_cast<std::uint16_t>(operand.size / 8);
    place.offset = operand.mem.disp.has_displacement != 0 ? operand.mem.disp.value : 0;
    return place;
  }

  void note_write(const ZydisDecodedOperand& operand) {
    if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) {
      return;
    }
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      const std::uint8_t number = number_of(operand.reg.value);
      result_.written |= static_cast<std::uint16_t>(number == kNoRegister ? 0U : 1U << number);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      result_.address = place_of(operand);
    }
  }

  void set_destination(Kind kind) {
    ZyanU64 destination = 0;
    result_.kind = kind;
    if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&raw_, &operands_[0], address_, &destination))) {
      result_.destination = destination;
    }
  }

  void translate_indirect_jump() {
    result_.kind = Kind::kJumpMemory;
    if (is_register(0)) {
      result_.kind = Kind::kJumpRegister;
      result_.source = register_of(0);
    } else if (is_memory(0) && operands_[0].mem.index != ZYDIS_REGISTER_NONE &&
               operands_[0].mem.scale == kWordBytes) {
      result_.kind = Kind::kJumpTable;
      result_.address = place_of(operands_[0]);
    }
  }

  bool translate_flow() {
    switch (raw_.meta.category) {
      case ZYDIS_CATEGORY_CALL:
        result_.kind = Kind::kCall;
        if (is_constant(0)) {
          set_destination(Kind::kCall);
        }
        return true;
      case ZYDIS_CATEGORY_UNCOND_BR:
        if (is_constant(0)) {
          set_destination(raw_.mnemonic == ZYDIS_MNEMONIC_XBEGIN ? Kind::kOther : Kind::kJump);
        } else {
          translate_indirect_jump();
        }
        return true;
      case ZYDIS_CATEGORY_COND_BR:
        if (raw_.operand_count_visible > 0 && is_constant(0)) {
          set_destination(Kind::kConditionalJump);
        }
        result_.is_equal_jump = raw_.mnemonic == ZYDIS_MNEMONIC_JZ;
        result_.is_unequal_jump = raw_.mnemonic == ZYDIS_MNEMONIC_JNZ;
        return true;
      case ZYDIS_CATEGORY_RET:
        result_.kind = Kind::kReturn;
        return true;
      case ZYDIS_CATEGORY_NOP:
      case ZYDIS_CATEGORY_WIDENOP:
        result_.kind = Kind::kNothing;
        return true;
      default:
        break;
    }
    if (raw_.mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
      result_.kind = Kind::kNothing;
      return true;
    }
    const bool is_stop = raw_.mnemonic == ZYDIS_MNEMONIC_UD2 ||
                         raw_.mnemonic == ZYDIS_MNEMONIC_HLT ||
                         raw_.mnemonic == ZYDIS_MNEMONIC_INT3;
    if (is_stop) {
      result_.kind = Kind::kStop;
    }
    return is_stop;
  }

  bool translate_stack() {
    if (raw_.operand_width != kWholeBits) {
      return false;
    }
    switch (raw_.mnemonic) {
      case ZYDIS_MNEMONIC_PUSH:
        result_.kind = Kind::kPush;
        result_.source = is_register(0) ? register_of(0) : kNoRegister;
        return true;
      case ZYDIS_MNEMONIC_PUSHFQ:
        result_.kind = Kind::kPush;
        return true;
      case ZYDIS_MNEMONIC_POP:
        result_.kind = Kind::kPop;
        result_.target = is_register(0) ? register_of(0) : kNoRegister;
        return true;
      case ZYDIS_MNEMONIC_POPFQ:
        result_.kind = Kind::kPop;
        return true;
      case ZYDIS_MNEMONIC_LEAVE:
        result_.kind = Kind::kLeave;
        return true;
      case ZYDIS_MNEMONIC_INC:
      case ZYDIS_MNEMONIC_DEC:
        if (is_register(0)) {
          set_add(register_of(0), raw_.mnemonic == ZYDIS_MNEMONIC_INC ? 1 : -1);
        }
        return true;
      default:
        return false;
    }
  }

  void set_add(std::uint8_t source, std::int64_t immediate) {
    result_.kind = Kind::kAdd;
    result_.target = register_of(0);
    result_.source = source;
    result_.immediate = immediate;
  }

  void set_constant(std::int64_t value) {
    result_.kind = Kind::kConstant;
    result_.target = register_of(0);
    result_.immediate = value;
  }

  // Where the second operand is, when that is known from here.
  bool translate_known_address() {
    ZyanU64 address = 0;
    if (operands_[1].mem.base != ZYDIS_REGISTER_RIP ||
        !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&raw_, &operands_[1], address_, &address))) {
      return false;
    }
    set_constant(static_cast<std::int64_t>(address));
    return true;
  }

  void translate_lea() {
    const MemoryPlace place = place_of(operands_[1]);
    if (!is_register(0) || translate_known_address()) {
      return;
    }
    if (place.base != kNoRegister && !place.has_index) {
      set_add(place.base, place.offset);
    } else if (place.base != kNoRegister && place.offset == 0 && operands_[1].mem.scale == 1 &&
               register_of(0) == place.base) {
      result_.kind = Kind::kSum;
      result_.target = place.base;
      result_.source = number_of(operands_[1].mem.index);
    }
  }

  void translate_mov() {
    if (is_register(0) && is_register(1)) {
      set_add(register_of(1), 0);
    } else if (is_register(0) && is_constant(1)) {
      set_constant(operands_[1].imm.value.s);
    } else if (is_register(0) && is_memory(1) && operands_[1].size == kWholeBits) {
      result_.address = place_of(operands_[1]);
      if (result_.address.base != kNoRegister && !result_.address.has_index) {
        result_.kind = Kind::kLoad;
        result_.target = register_of(0);
      }
    } else if (is_memory(0) && is_register(1) && !result_.address.has_index) {
      result_.kind = Kind::kStore;
      result_.source = register_of(1);
    }
  }

  void translate_movsxd() {
    if (is_register(0) && is_memory(1) && operands_[1].size == 32 &&
        operands_[1].mem.index != ZYDIS_REGISTER_NONE && operands_[1].mem.scale == 4) {
      result_.kind = Kind::kLoadTableEntry;
      result_.target = register_of(0);
      result_.address = place_of(operands_[1]);
    }
  }

  void translate_cmp() {
    if (is_constant(1) && !is_memory(0)) {
      result_.kind = Kind::kCompareConstant;
      result_.immediate = operands_[1].imm.value.s;
    } else if (is_register(0) && is_register(1)) {
      result_.kind = Kind::kCompareRegisters;
      result_.target = register_of(0);
      result_.source = register_of(1);
    }
  }

  void translate_two_operands() {
    switch (raw_.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        return translate_mov();
      case ZYDIS_MNEMONIC_LEA:
        return translate_lea();
      case ZYDIS_MNEMONIC_MOVSXD:
        return translate_movsxd();
      case ZYDIS_MNEMONIC_CMP:
        return translate_cmp();
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB:
        if (is_register(0) && is_constant(1)) {
          const std::int64_t value = operands_[1].imm.value.s;
          set_add(register_of(0), raw_.mnemonic == ZYDIS_MNEMONIC_ADD ? value : -value);
        } else if (is_register(0) && is_register(1) && raw_.mnemonic == ZYDIS_MNEMONIC_ADD) {
          result_.kind = Kind::kSum;
          result_.target = register_of(0);
          result_.source = register_of(1);
        }
        return;
      case ZYDIS_MNEMONIC_AND:
        if (is_register(0) && is_constant(1) && operands_[1].imm.value.s < 0) {
          result_.kind = Kind::kAlign;
          result_.target = register_of(0);
        }
        return;
      default:
        return;
    }
  }

  const ZydisDecodedInstruction& raw_;
  const ZydisDecodedOperand* operands_;
  std::uint64_t address_;
  Instruction result_;
};

}  // namespace

std::optional<Instruction> decode_instruction(std::span<const std::byte> bytes,
                                              std::uint64_t address) {
  static const ZydisDecoder kDecoder = make_decoder();
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&kDecoder, bytes.data(), bytes.size(), &raw, operands))) {
    return std::nullopt;
  }
  return Translation(raw, operands, address).run();
}

}  // namespace lumbre
