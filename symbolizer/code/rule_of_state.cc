#include "symbolizer/code/rule_of_state.h"

#include <limits>

namespace lumbre {
namespace {

using Kind = SymbolicValue::Kind;

constexpr std::int64_t kWordBytes = 8;
constexpr std::uint8_t kSaved[LUMBRE_SAVED_COUNT] = {LUMBRE_RBX, LUMBRE_RBP, LUMBRE_R12,
                                                     LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};
// Those that outlive calls come first, the stack pointer before all.
constexpr std::uint8_t kOrder[] = {
    LUMBRE_RSP, LUMBRE_RBP, LUMBRE_RBX, LUMBRE_R12, LUMBRE_R13, LUMBRE_R14, LUMBRE_R15, LUMBRE_R10,
    LUMBRE_R11, LUMBRE_RAX, LUMBRE_R9,  LUMBRE_R8,  LUMBRE_RDI, LUMBRE_RSI, LUMBRE_RDX, LUMBRE_RCX};

bool fits(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value >= low && value <= high;
}

template <typename T>
bool fits(std::int64_t value) {
  return fits(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}

bool count_from_register(const FrameState& state, std::uint8_t number, lumbre_unwind_rule& rule) {
  const SymbolicValue& value = state.value(number);
  if (value.kind != Kind::kFrame || !fits<std::int32_t>(-value.offset)) {
    return false;
  }
  rule.cfa_kind = LUMBRE_CFA_REGISTER;
  rule.cfa_register = number;
  rule.cfa_offset = static_cast<std::int32_t>(-value.offset);
  return true;
}

// A slot of a realigned frame holds an address of the old one.
bool count_from_slot(const FrameState& state, std::uint8_t number, lumbre_unwind_rule& rule) {
  const SymbolicValue& base = state.value(number);
  if (base.kind != Kind::kBase) {
    return false;
  }
  for (const FrameState::Slot& slot : state.slots()) {
    const std::int64_t distance = slot.address.offset - base.offset;
    if (slot.address.kind == Kind::kBase && slot.address.id == base.id &&
        slot.value.kind == Kind::kFrame && fits<std::int32_t>(distance) &&
        fits<std::int16_t>(-slot.value.offset)) {
      rule.cfa_kind = LUMBRE_CFA_DEREF;
      rule.cfa_register = number;
      rule.cfa_offset = static_cast<std::int32_t>(distance);
      rule.cfa_add = static_cast<std::int16_t>(-slot.value.offset);
      return true;
    }
  }
  return false;
}

bool find_cfa(const FrameState& state, bool prefers_frame_pointer, lumbre_unwind_rule& rule) {
  if (prefers_frame_pointer && count_from_register(state, LUMBRE_RBP, rule)) {
    return true;
  }
  for (const auto count : {count_from_register, count_from_slot}) {
    for (const std::uint8_t number : kOrder) {
      if (count(state, number, rule)) {
        return true;
      }
    }
  }
  return false;
}

std::optional<std::int8_t> to_slot(std::int64_t bytes) {
  const std::int64_t words = bytes / kWordBytes;
  const bool is_slot = bytes % kWordBytes == 0 && words >= -128 && words < LUMBRE_SLOT_UNDEFINED;
  return is_slot ? std::optional(static_cast<std::int8_t>(words)) : std::nullopt;
}

// Where the register's value at the entry lies, as a slot; sets `is_by_rbp` if counted from there.
std::int8_t find_saved(const FrameState& state, std::uint8_t number, bool& is_by_rbp) {
  const SymbolicValue entry{Kind::kEntry, number, 0};
  const SymbolicValue& rbp = state.value(LUMBRE_RBP);
  is_by_rbp = false;
  if (state.value(number) == entry) {
    return LUMBRE_SLOT_SAME;
  }
  for (const FrameState::Slot& slot : state.slots()) {
    if (!(slot.value == entry)) {
      continue;
    }
    if (slot.address.kind == Kind::kFrame) {
      const auto place = to_slot(slot.address.offset);
      if (place.has_value() && *place != LUMBRE_SLOT_SAME) {
        return *place;
      }
    } else if (rbp.kind == Kind::kBase && rbp.id == slot.address.id) {
      const auto place = to_slot(slot.address.offset - rbp.offset);
      if (place.has_value() && (*place != LUMBRE_SLOT_SAME || number == LUMBRE_RBP)) {
        is_by_rbp = true;
        return *place;
      }
    }
  }
  return LUMBRE_SLOT_UNDEFINED;
}

void find_all_saved(const FrameState& state, lumbre_unwind_rule& rule) {
  unsigned by_cfa = 0;
  bool is_any_by_rbp = false;
  for (unsigned i = 0; i < LUMBRE_SAVED_COUNT; ++i) {
    bool is_by_rbp = false;
    rule.saved[i] = find_saved(state, kSaved[i], is_by_rbp);
    is_any_by_rbp = is_any_by_rbp || is_by_rbp;
    // rbp's own slot 0 would mean a place, not that it keeps its value.
    const bool is_cfa_slot = !is_by_rbp && rule.saved[i] != LUMBRE_SLOT_UNDEFINED;
    by_cfa |= is_cfa_slot ? unsigned{LUMBRE_RULE_SAVED_BY_CFA} << i : 0U;
  }
  if (is_any_by_rbp) {
    rule.flags = static_cast<__u8>(LUMBRE_RULE_SAVED_BY_RBP | by_cfa);
  }
}

}  // namespace

std::optional<lumbre_unwind_rule> rule_of_state(const FrameState& state,
                                                bool prefers_frame_pointer) {
  lumbre_unwind_rule rule{};
  if (!find_cfa(state, prefers_frame_pointer, rule)) {
    return std::nullopt;
  }
  rule.return_address = -1;
  find_all_saved(state, rule);
  return rule;
}

}  // namespace lumbre
