// Whether an address is one that a call returns to: a near call instruction (Intel SDM volume 2,
// CALL: E8, or FF /2 with any operand) ends right before it.
//
// Prefixes need no look: they stand before what is tested. By chance bytes look so about once in
// forty places of real code. Any thread; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lumbre {

inline constexpr std::size_t kLongestCallBytes = 7;

// `before`: the bytes that end right before the address; kLongestCallBytes of them where possible.
bool ends_in_call(std::span<const std::byte> before);

}  // namespace lumbre
