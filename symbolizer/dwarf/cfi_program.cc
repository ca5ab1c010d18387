#include "symbolizer/dwarf/cfi_program.h"

#include <algorithm>

#include "symbolizer/dwarf/cfi_constants.h"

namespace lumbre {
namespace {

using namespace dwarf;

class Interpreter {
 public:
  Interpreter(const CfiSection& section, const FrameEntry& entry, const RowVisitor& visit)
      : section_(section), entry_(entry), visit_(visit), location_(entry.start.value) {
    row_.is_signal_frame = entry.common->is_signal_frame;
  }

  bool run() {
    if (!run(entry_.common->instructions)) {
      return false;
    }
    initial_ = row_;
    has_initial_ = true;
    if (!run(entry_.instructions)) {
      return false;
    }
    emit_until(entry_.end.value);
    return true;
  }

 private:
  // False where an instruction fails; true also when there is nothing left to find.
  bool run(std::span<const std::byte> instructions) {
    reader_ = ByteReader(instructions);
    while (!reader_.is_at_end() && !is_finished_) {
      if (!step() || reader_.is_failed()) {
        return false;
      }
    }
    return true;
  }

  bool step() {
    const std::uint8_t opcode = reader_.u8();
    const std::uint8_t operand = opcode & 0x3f;
    switch (opcode & 0xc0) {
      case DW_CFA_advance_loc:
        return advance(operand);
      case DW_CFA_offset:
        return set_scaled(operand, RegisterRule::Kind::kOffset, reader_.uleb128());
      case DW_CFA_restore:
        return restore(operand);
      default:
        return step_location(opcode);
    }
  }

  bool step_location(std::uint8_t opcode) {
    switch (opcode) {
      case DW_CFA_nop:
        return true;
      case DW_CFA_set_loc:
        return set_location();
      case DW_CFA_advance_loc1:
        return advance(reader_.u8());
      case DW_CFA_advance_loc2:
        return advance(reader_.u16());
      case DW_CFA_advance_loc4:
        return advance(reader_.u32());
      case DW_CFA_MIPS_advance_loc8:
        return advance(reader_.u64());
      case DW_CFA_remember_state:
        return remember();
      case DW_CFA_restore_state:
        return restore_remembered();
      case DW_CFA_GNU_args_size:
        reader_.uleb128();  // what the callee pops on an exception; no register depends on it
        return true;
      default:
        return step_cfa(opcode);
    }
  }

  bool step_cfa(std::uint8_t opcode) {
    switch (opcode) {
      case DW_CFA_def_cfa: {
        const std::uint64_t base = reader_.uleb128();
        return define_cfa(base, static_cast<std::int64_t>(reader_.uleb128()));
      }
      case DW_CFA_def_cfa_sf: {
        const std::uint64_t base = reader_.uleb128();
        return define_cfa(base, scaled(static_cast<std::uint64_t>(reader_.sleb128())));
      }
      case DW_CFA_def_cfa_register:
        return !row_.cfa_is_expression && define_cfa(reader_.uleb128(), row_.cfa_offset);
      case DW_CFA_def_cfa_offset:
        return !row_.cfa_is_expression &&
               define_cfa(row_.cfa_register, static_cast<std::int64_t>(reader_.uleb128()));
      case DW_CFA_def_cfa_offset_sf:
        return !row_.cfa_is_expression &&
               define_cfa(row_.cfa_register, scaled(static_cast<std::uint64_t>(reader_.sleb128())));
      case DW_CFA_def_cfa_expression:
        row_.cfa_is_expression = true;
        row_.cfa_expression = reader_.take(reader_.uleb128());
        return true;
      default:
        return step_register(opcode);
    }
  }

  bool step_register(std::uint8_t opcode) {
    using Kind = RegisterRule::Kind;
    const std::uint64_t number = reader_.uleb128();
    switch (opcode) {
      case DW_CFA_offset_extended:
        return set_scaled(number, Kind::kOffset, reader_.uleb128());
      case DW_CFA_offset_extended_sf:
        return set_scaled(number, Kind::kOffset, static_cast<std::uint64_t>(reader_.sleb128()));
      case DW_CFA_GNU_negative_offset_extended:
        return set_scaled(number, Kind::kOffset, 0 - reader_.uleb128());
      case DW_CFA_val_offset:
        return set_scaled(number, Kind::kValueOffset, reader_.uleb128());
      case DW_CFA_val_offset_sf:
        return set_scaled(number, Kind::kValueOffset,
                          static_cast<std::uint64_t>(reader_.sleb128()));
      case DW_CFA_restore_extended:
        return restore(number);
      case DW_CFA_undefined:
        return set_rule(number, {Kind::kUndefined, 0, {}});
      case DW_CFA_same_value:
        return set_rule(number, {Kind::kSame, 0, {}});
      case DW_CFA_register:
        return set_rule(number,
                        {Kind::kRegister, static_cast<std::int64_t>(reader_.uleb128()), {}});
      case DW_CFA_expression:
        return set_rule(number, {Kind::kExpression, 0, reader_.take(reader_.uleb128())});
      case DW_CFA_val_expression:
        return set_rule(number, {Kind::kValueExpression, 0, reader_.take(reader_.uleb128())});
      default:
        return false;
    }
  }

  // Products wrap: a malformed file may hold any factor.
  std::int64_t scaled(std::uint64_t factored) const {
    return static_cast<std::int64_t>(factored *
                                     static_cast<std::uint64_t>(entry_.common->data_alignment));
  }

  bool define_cfa(std::uint64_t base, std::int64_t offset) {
    row_.cfa_is_expression = false;
    row_.cfa_register = base;
    row_.cfa_offset = offset;
    return true;
  }

  bool set_scaled(std::uint64_t number, RegisterRule::Kind kind, std::uint64_t factored) {
    return set_rule(number, {kind, scaled(factored), {}});
  }

  bool set_rule(std::uint64_t number, const RegisterRule& rule) {
    if (number < LUMBRE_REGISTER_COUNT) {
      row_.registers[number] = rule;
    }  // vector and mask registers hold nothing that a walk needs
    return true;
  }

  bool restore(std::uint64_t number) {
    if (number < LUMBRE_REGISTER_COUNT) {
      row_.registers[number] = has_initial_ ? initial_.registers[number] : RegisterRule{};
    }
    return true;
  }

  bool remember() {
    if (remembered_.size() >= kMaxRememberedStates) {
      return false;
    }
    remembered_.push_back(row_);
    return true;
  }

  bool restore_remembered() {
    if (remembered_.empty()) {
      return false;
    }
    row_ = remembered_.back();
    remembered_.pop_back();
    return true;
  }

  bool advance(std::uint64_t delta) {
    const std::uint64_t factor = entry_.common->code_alignment;
    std::uint64_t distance = 0;
    std::uint64_t next = 0;
    if (__builtin_mul_overflow(delta, factor, &distance) ||
        __builtin_add_overflow(location_, distance, &next)) {
      return false;
    }
    emit_until(next);
    return true;
  }

  bool set_location() {
    const auto bases = section_.bases_for(reader_.bytes());
    const auto next = read_encoded_pointer(reader_, entry_.common->pointer_encoding, bases);
    if (!next.has_value() || *next < location_) {
      return false;
    }
    emit_until(*next);
    return true;
  }

  // The CIE's own instructions describe no address, so a location change in them has no row.
  void emit_until(std::uint64_t next) {
    if (!has_initial_ || is_finished_) {
      return;
    }
    row_.start = ImageAddress{location_};
    row_.end = ImageAddress{std::min(next, entry_.end.value)};
    location_ = next;
    if (row_.start < row_.end && !visit_(row_)) {
      is_finished_ = true;
    }
    is_finished_ = is_finished_ || location_ >= entry_.end.value;
  }

  const CfiSection& section_;
  const FrameEntry& entry_;
  const RowVisitor& visit_;
  ByteReader reader_{{}};
  CfiRow row_;
  CfiRow initial_;
  bool has_initial_ = false;
  bool is_finished_ = false;
  std::uint64_t location_;
  std::vector<CfiRow> remembered_;
};

}  // namespace

bool for_each_row(const CfiSection& section, const FrameEntry& entry, const RowVisitor& visit) {
  return Interpreter(section, entry, visit).run();
}

}  // namespace lumbre
