#include "symbolizer/code/call_site.h"

#include "symbolizer/code/instruction.h"

namespace lumbre {

bool ends_in_call(std::span<const std::byte> before) {
  constexpr std::byte kRelative{0xe8};
  constexpr std::byte kIndirect{0xff};
  constexpr std::byte kOperation{0x38}, kNearCall{0x10};  // in the second byte
  constexpr std::size_t kRelativeBytes = 5, kShortestBytes = 2;
  for (std::size_t length = kShortestBytes; length <= kLongestCallBytes; ++length) {
    if (length > before.size()) {
      break;
    }
    const auto bytes = before.last(length);
    const bool is_relative = length == kRelativeBytes && bytes[0] == kRelative;
    const bool is_indirect = bytes[0] == kIndirect && (bytes[1] & kOperation) == kNearCall;
    if (!is_relative && !is_indirect) {
      continue;
    }
    const auto instruction = decode_instruction(bytes, 0);
    if (instruction.has_value() && instruction->kind == InstructionKind::kCall &&
        instruction->length == length) {
      return true;
    }
  }
  return false;
}

}  // namespace lumbre
