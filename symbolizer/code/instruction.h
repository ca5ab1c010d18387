// Instruction: what one x86-64 machine instruction does to the stack, to the registers that can
// lead to the caller's frame, and to the flow of control; nothing else of it is kept.
//
// Decoding is Zydis' (Intel SDM volume 2, AMD APM volume 3 are its sources). Any bytes may be
// given. Any thread; no allocation. Cost: about 0.2 us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lumbre {

// DWARF numbers, as in bpf/abi/tables.h; kNoRegister: none, or one that does not matter here.
inline constexpr std::uint8_t kGeneralRegisters = 16;
inline constexpr std::uint8_t kNoRegister = 0xff;

enum class InstructionKind : std::uint8_t {
  kOther,           // writes `written` and `store`
  kNothing,         // padding
  kAdd,             // target = source + immediate; also mov, lea, add, sub, inc, dec
  kConstant,        // target = immediate
  kAlign,           // target = target rounded down: and with a negative constant
  kSum,             // target = target + source
  kLoad,            // target = *(address), 8 bytes
  kLoadTableEntry,  // target = sign-extended 4 bytes at address.base + address.offset + index * 4
  kStore,           // *(address) = source, 8 bytes
  kPush,            // source; kNoRegister: any other value
  kPop,             // target; kNoRegister: dropped
  kLeave,
  kCompareConstant,   // a register with immediate
  kCompareRegisters,  // target and source
  kCall,
  kJump,
  kConditionalJump,  // to `destination`; 0 for an indirect call
  kJumpRegister,     // to source
  kJumpTable,        // to the 8 bytes at address + index * 8
  kJumpMemory,       // to anything else: tail calls through a pointer
  kReturn,
  kStop  // ud2, hlt, int3: what follows is not reached from here
};

struct MemoryPlace {
  std::uint8_t base = kNoRegister;
  bool has_index = false;
  std::uint16_t size_bytes = 0;  // 0: no access
  std::int64_t offset = 0;
};

struct Instruction {
  InstructionKind kind = InstructionKind::kOther;
  std::uint8_t length = 0;
  std::uint8_t target = kNoRegister;
  std::uint8_t source = kNoRegister;
  bool is_equal_jump = false;    // je; a kConditionalJump
  bool is_unequal_jump = false;  // jne
  std::uint16_t written = 0;     // registers whose value is not known afterwards, by bit
  std::int64_t immediate = 0;
  std::uint64_t destination = 0;
  MemoryPlace address;  // of kLoad, kStore and the tables; of kOther: what it writes
};

// None where the bytes are no instruction or end in the middle of one.
std::optional<Instruction> decode_instruction(std::span<const std::byte> bytes,
                                              std::uint64_t address);

}  // namespace lumbre
