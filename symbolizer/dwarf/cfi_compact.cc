// Folding of a CFI row into struct lumbre_unwind_rule.
//
// The expression forms recognised here are those that compilers and linkers really emit:
//   GCC's stack realignment ("DRAP"): the CFA is read from a slot at rbp, and registers are saved
//   relative to the new rbp:  DW_OP_breg6 N; DW_OP_deref [; DW_OP_plus_uconst M],  DW_OP_breg6 N
//   the linkers' .plt:  breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
//   glibc's signal return: the CFA is the saved rsp in the ucontext: breg7 160; deref
#include <limits>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

using namespace dwarf;
using Kind = RegisterRule::Kind;

constexpr std::int64_t kWordBytes = 8;
// Place of the saved rsp from the ucontext: uc_mcontext.gregs[REG_RSP] of <sys/ucontext.h>.
constexpr std::int64_t kUcontextRsp = 160;
constexpr unsigned kSavedRegisters[LUMBRE_SAVED_COUNT] = {
    LUMBRE_RBX, LUMBRE_RBP, LUMBRE_R12, LUMBRE_R13, LUMBRE_R14, LUMBRE_R15};

constexpr lumbre_unwind_rule rule_of_kind(lumbre_cfa_kind kind) {
  lumbre_unwind_rule rule{};
  rule.cfa_kind = static_cast<__u8>(kind);
  return rule;
}

// Without a caller the CFA does not matter; one form for all keeps equal rules equal.
constexpr lumbre_unwind_rule root_rule() {
  lumbre_unwind_rule rule = rule_of_kind(LUMBRE_CFA_REGISTER);
  rule.cfa_register = LUMBRE_RSP;
  rule.cfa_offset = kWordBytes;
  rule.return_address = LUMBRE_SLOT_UNDEFINED;
  return rule;
}

struct BaseAndOffset {
  std::uint8_t base;
  std::int64_t offset;
};

// DW_OP_bregN offset, and the reader behind it.
std::optional<BaseAndOffset> read_breg(ByteReader& reader) {
  const std::uint8_t op = reader.u8();
  if (op < DW_OP_breg0 || op >= DW_OP_breg0 + LUMBRE_REGISTER_COUNT) {
    return std::nullopt;
  }
  const BaseAndOffset result{static_cast<std::uint8_t>(op - DW_OP_breg0), reader.sleb128()};
  if (reader.is_failed()) {
    return std::nullopt;
  }
  return result;
}

bool fold_deref_cfa(const BaseAndOffset& place, ByteReader reader, lumbre_unwind_rule& rule) {
  if (reader.u8() != DW_OP_deref) {
    return false;
  }
  std::uint64_t add = 0;
  if (!reader.is_at_end()) {
    if (reader.u8() != DW_OP_plus_uconst) {
      return false;
    }
    add = reader.uleb128();
  }
  if (reader.is_failed() || !reader.is_at_end() ||
      add > static_cast<std::uint64_t>(std::numeric_limits<__s16>::max())) {
    return false;
  }
  rule.cfa_kind = LUMBRE_CFA_DEREF;
  rule.cfa_register = place.base;
  rule.cfa_offset = static_cast<__s32>(place.offset);
  rule.cfa_add = static_cast<__s16>(add);
  return true;
}

bool fold_plt_cfa(const BaseAndOffset& place, ByteReader reader, lumbre_unwind_rule& rule) {
  const auto instruction_pointer = read_breg(reader);
  if (place.base != LUMBRE_RSP || !instruction_pointer.has_value() ||
      instruction_pointer->base != LUMBRE_RIP || instruction_pointer->offset != 0) {
    return false;
  }
  const bool is_masked = reader.u8() == DW_OP_lit0 + 15 && reader.u8() == DW_OP_and;
  const std::uint8_t threshold = reader.u8();
  const bool has_tail = reader.u8() == DW_OP_ge && reader.u8() == DW_OP_lit0 + 3 &&
                        reader.u8() == DW_OP_shl && reader.u8() == DW_OP_plus;
  if (!is_masked || !has_tail || !reader.is_at_end() || threshold < DW_OP_lit0 ||
      threshold > DW_OP_lit0 + 15) {
    return false;
  }
  rule.cfa_kind = LUMBRE_CFA_PLT;
  rule.cfa_register = LUMBRE_RSP;
  rule.cfa_offset = static_cast<__s32>(place.offset);
  rule.cfa_add = static_cast<__s16>(threshold - DW_OP_lit0);
  return true;
}

bool is_s32(std::int64_t value) {
  return value >= std::numeric_limits<__s32>::min() && value <= std::numeric_limits<__s32>::max();
}

bool fold_cfa(const CfiRow& row, lumbre_unwind_rule& rule) {
  if (!row.cfa_is_expression) {
    rule.cfa_kind = LUMBRE_CFA_REGISTER;
    rule.cfa_register = static_cast<__u8>(row.cfa_register);
    rule.cfa_offset = static_cast<__s32>(row.cfa_offset);
    return row.cfa_register < LUMBRE_RIP && is_s32(row.cfa_offset);
  }
  ByteReader reader(row.cfa_expression);
  const auto place = read_breg(reader);
  if (!place.has_value() || !is_s32(place->offset)) {
    return false;
  }
  return fold_deref_cfa(*place, reader, rule) || fold_plt_cfa(*place, reader, rule);
}

std::optional<__s8> to_slot(std::int64_t offset, bool is_zero_allowed) {
  const std::int64_t slot = offset / kWordBytes;
  if (offset % kWordBytes != 0 || slot < std::numeric_limits<__s8>::min() ||
      slot >= LUMBRE_SLOT_UNDEFINED || (slot == LUMBRE_SLOT_SAME && !is_zero_allowed)) {
    return std::nullopt;
  }
  return static_cast<__s8>(slot);
}

bool fold_return_address(const RegisterRule& from, lumbre_unwind_rule& rule) {
  if (from.kind == Kind::kRegister && from.offset >= 0 && from.offset < LUMBRE_RIP) {
    rule.return_address = static_cast<__s8>(from.offset);
    rule.flags |= LUMBRE_RULE_RA_IN_REGISTER;
    return true;
  }
  const auto slot = to_slot(from.offset, true);
  if (from.kind != Kind::kOffset || !slot.has_value()) {
    return false;
  }
  rule.return_address = *slot;
  return true;
}

// A register saved at "breg N" as a plain CFA offset where the CFA counts from the same register;
// else, for rbp, as it is.
struct SavedPlace {
  bool is_from_rbp;
  std::int64_t offset;
};
std::optional<SavedPlace> saved_place(const CfiRow& row, const RegisterRule& from) {
  if (from.kind == Kind::kOffset) {
    return SavedPlace{false, from.offset};
  }
  if (from.kind != Kind::kExpression) {
    return std::nullopt;
  }
  ByteReader reader(from.expression);
  const auto place = read_breg(reader);
  if (!place.has_value() || !reader.is_at_end()) {
    return std::nullopt;
  }
  if (!row.cfa_is_expression && place->base == row.cfa_register && is_s32(place->offset) &&
      is_s32(row.cfa_offset)) {
    return SavedPlace{false, place->offset - row.cfa_offset};
  }
  if (place->base == LUMBRE_RBP) {
    return SavedPlace{true, place->offset};
  }
  return std::nullopt;
}

// False where the register's rule has no compact form.
bool fold_saved_register(const CfiRow& row, unsigned saved, lumbre_unwind_rule& rule) {
  const RegisterRule& from = row.registers[kSavedRegisters[saved]];
  if (from.kind == Kind::kSame) {
    rule.flags |= static_cast<__u8>(LUMBRE_RULE_SAVED_BY_CFA << saved);
    return true;
  }
  if (from.kind == Kind::kUndefined) {
    rule.saved[saved] = LUMBRE_SLOT_UNDEFINED;
    return true;
  }
  const auto place = saved_place(row, from);
  if (!place.has_value()) {
    return false;
  }
  const auto slot = to_slot(place->offset, place->is_from_rbp && saved == LUMBRE_SAVED_RBP);
  if (!slot.has_value()) {
    return false;
  }
  rule.saved[saved] = *slot;
  rule.flags |= place->is_from_rbp ? static_cast<__u8>(LUMBRE_RULE_SAVED_BY_RBP)
                                   : static_cast<__u8>(LUMBRE_RULE_SAVED_BY_CFA << saved);
  return true;
}

bool fold_saved_registers(const CfiRow& row, lumbre_unwind_rule& rule) {
  for (unsigned i = 0; i < LUMBRE_SAVED_COUNT; ++i) {
    if (!fold_saved_register(row, i, rule)) {
      return false;
    }
  }
  if ((rule.flags & LUMBRE_RULE_SAVED_BY_RBP) == 0) {
    rule.flags &= LUMBRE_RULE_RA_IN_REGISTER;  // everything counts from the CFA, as without a flag
  }
  return true;
}

// The caller's rsp is the CFA; a row that says otherwise has no compact form.
bool has_usual_stack_pointer(const RegisterRule& rule) {
  return rule.kind == Kind::kSame || (rule.kind == Kind::kValueOffset && rule.offset == 0);
}

bool is_signal_return(const CfiRow& row) {
  ByteReader reader(row.cfa_expression);
  const auto place = read_breg(reader);
  return row.cfa_is_expression && place.has_value() && place->base == LUMBRE_RSP &&
         place->offset == kUcontextRsp && reader.u8() == DW_OP_deref && reader.is_at_end();
}

}  // namespace

lumbre_unwind_rule compact_rule(const CfiRow& row) {
  if (row.is_signal_frame) {
    return rule_of_kind(is_signal_return(row) ? LUMBRE_CFA_SIGNAL : LUMBRE_CFA_FULL);
  }
  const RegisterRule& return_address = row.registers[LUMBRE_RIP];
  if (return_address.kind == Kind::kUndefined) {
    return root_rule();
  }
  if (return_address.kind == Kind::kSame) {
    return rule_of_kind(LUMBRE_CFA_NONE);  // nothing says where the caller is
  }
  lumbre_unwind_rule rule{};
  if (!has_usual_stack_pointer(row.registers[LUMBRE_RSP]) || !fold_cfa(row, rule) ||
      !fold_return_address(return_address, rule) || !fold_saved_registers(row, rule)) {
    return rule_of_kind(LUMBRE_CFA_FULL);
  }
  return rule;
}

}  // namespace lumbre
