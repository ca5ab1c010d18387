#include "symbolizer/dwarf/line_program.h"

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {

LineProgram::Event LineProgram::next() {
  while (!reader_.is_at_end()) {
    const std::uint8_t opcode = reader_.u8();
    if (opcode >= header_->opcode_base) {
      const unsigned adjusted = opcode - header_->opcode_base;
      advance(adjusted / header_->line_range);
      registers_.line += static_cast<std::uint32_t>(
          header_->line_base + static_cast<int>(adjusted % header_->line_range));
      return Event::kRow;
    }
    if (opcode == line_op::kExtended) {
      if (run_extended()) {
        return Event::kEndSequence;
      }
    } else if (run_standard(opcode)) {
      return Event::kRow;
    }
  }
  return Event::kEnd;
}

void LineProgram::advance(std::uint64_t operations) {
  const std::uint64_t length = header_->min_instruction_length;
  if (header_->max_operations <= 1) {
    registers_.address += length * operations;
    return;
  }
  const std::uint64_t total = registers_.operation + operations;
  registers_.address += length * (total / header_->max_operations);
  registers_.operation = static_cast<std::uint32_t>(total % header_->max_operations);
}

bool LineProgram::run_standard(std::uint8_t opcode) {
  switch (opcode) {
    case line_op::kCopy:
      return true;
    case line_op::kAdvancePc:
      advance(reader_.uleb128());
      return false;
    case line_op::kAdvanceLine:
      registers_.line += static_cast<std::uint32_t>(reader_.sleb128());
      return false;
    case line_op::kSetFile:
      registers_.file = static_cast<std::uint32_t>(reader_.uleb128());
      return false;
    case line_op::kSetColumn:
      registers_.column = static_cast<std::uint32_t>(reader_.uleb128());
      return false;
    case line_op::kNegateStmt:
    case line_op::kSetBasicBlock:
    case line_op::kSetPrologueEnd:
    case line_op::kSetEpilogueBegin:
      return false;
    case line_op::kConstAddPc:
      advance((255u - header_->opcode_base) / header_->line_range);
      return false;
    case line_op::kFixedAdvancePc:
      registers_.address += reader_.u16();
      registers_.operation = 0;
      return false;
    default:
      skip_unknown(opcode);
      return false;
  }
}

void LineProgram::skip_unknown(std::uint8_t opcode) {
  for (auto left = static_cast<unsigned>(header_->opcode_lengths[opcode - 1u]); left > 0; --left) {
    reader_.uleb128();
  }
}

bool LineProgram::run_extended() {
  const std::uint64_t length = reader_.uleb128();
  if (length == 0 || length > reader_.remaining()) {
    reader_.skip(reader_.remaining());
    return false;
  }
  ByteReader operands(reader_.take(length));
  switch (operands.u8()) {
    case line_op::kEndSequence:
      return true;
    case line_op::kSetAddress:
      registers_.address =
          read_unsigned(operands, static_cast<unsigned>(length - 1 > 8 ? 8 : length - 1));
      registers_.operation = 0;
      return false;
    case line_op::kDefineFile: {
      const auto name = operands.c_string();
      defined_files_.push_back(read_old_file(operands, name));
      return false;
    }
    default:
      return false;
  }
}

}  // namespace lumbre::dwarf
