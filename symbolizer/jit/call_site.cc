#include "symbolizer/jit/call_site.h"

namespace lumbre {
namespace {

constexpr unsigned kDirectCall = 0xe8;
constexpr unsigned kGroup5 = 0xff;  // INC, DEC, CALL, JMP, PUSH, by the register field of ModRM
constexpr unsigned kCall = 2, kJump = 4;

// `FF /operation` ends where `bytes` end, with the length that its addressing form gives it.
bool ends_in_group5(std::span<const std::byte> bytes, unsigned operation) {
  const auto at = [&](std::size_t back) {
    return std::to_integer<unsigned>(bytes[bytes.size() - back]);
  };
  for (std::size_t length = 2; length <= 7 && length <= bytes.size(); ++length) {
    const unsigned modrm = at(length - 1);
    if (at(length) != kGroup5 || (modrm >> 3 & 7) != operation) {
      continue;
    }
    const unsigned mod = modrm >> 6, rm = modrm & 7;
    const bool has_sib = mod != 3 && rm == 4;
    const bool has_no_base = has_sib && length > 2 && (at(length - 2) & 7) == 5;
    std::size_t expected = 2 + (has_sib ? 1 : 0) + (mod == 1 ? 1 : 0);
    if (mod == 2 || (mod == 0 && (rm == 5 || has_no_base))) {
      expected += 4;
    }
    if (expected == length) {
      return true;
    }
  }
  return false;
}

}  // namespace

CallKind call_before(std::span<const std::byte> bytes) {
  constexpr std::size_t kDirectBytes = 5;
  if (ends_in_group5(bytes, kCall)) {
    return CallKind::kIndirect;
  }
  return bytes.size() >= kDirectBytes &&
                 std::to_integer<unsigned>(bytes[bytes.size() - kDirectBytes]) == kDirectCall
             ? CallKind::kDirect
             : CallKind::kNone;
}

bool is_behind_indirect_jump(std::span<const std::byte> bytes) {
  return ends_in_group5(bytes, kJump);
}

}  // namespace lumbre
