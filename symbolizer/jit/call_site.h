// Is this a return address? The bytes before it say whether a call ends there.
//
// x86-64 only (Intel SDM 2A, CALL: E8 rel32, FF /2). Bytes can look like a call by chance: one word
// in a hundred or so of arbitrary code addresses does. Any thread; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lumbre {

inline constexpr std::size_t kCallBytes = 8;  // to hand in: those right before the address

enum class CallKind : std::uint8_t { kNone, kDirect, kIndirect };

CallKind call_before(std::span<const std::byte> bytes);
// Behind `jmp *table(,%reg,8)` and the like.
bool is_behind_indirect_jump(std::span<const std::byte> bytes);

}  // namespace lumbre
