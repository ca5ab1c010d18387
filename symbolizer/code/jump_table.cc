#include "symbolizer/code/jump_table.h"

#include <array>
#include <cstring>

namespace lumbre {
namespace {

using Kind = SymbolicValue::Kind;

struct Table {
  std::uint64_t address = 0;
  std::uint64_t base = 0;  // added to each entry
  std::size_t entry_bytes = 0;
};

std::optional<Table> find_table(const Instruction& jump, const FrameState& state) {
  if (jump.kind == InstructionKind::kJumpRegister) {
    const SymbolicValue& target = state.value(jump.source);
    if (target.kind == Kind::kTableTarget) {
      return Table{target.id, static_cast<std::uint64_t>(target.offset), 4};
    }
    return std::nullopt;
  }
  if (jump.kind != InstructionKind::kJumpTable) {
    return std::nullopt;
  }
  std::uint64_t address = static_cast<std::uint64_t>(jump.address.offset);
  if (jump.address.base != kNoRegister) {
    const SymbolicValue& base = state.value(jump.address.base);
    if (base.kind != Kind::kConstant) {
      return std::nullopt;
    }
    address += static_cast<std::uint64_t>(base.offset);
  }
  return Table{address, 0, 8};
}

std::optional<std::uint64_t> read_entry(const Table& table, std::size_t index,
                                        const ReadBytes& read_bytes) {
  std::array<std::byte, 8> bytes{};
  const std::uint64_t address = table.address + index * table.entry_bytes;
  if (!read_bytes(address, std::span(bytes).first(table.entry_bytes))) {
    return std::nullopt;
  }
  std::int32_t distance = 0;
  std::uint64_t place = 0;
  if (table.entry_bytes == sizeof(distance)) {
    std::memcpy(&distance, bytes.data(), sizeof(distance));
    return table.base + static_cast<std::uint64_t>(std::int64_t{distance});
  }
  std::memcpy(&place, bytes.data(), sizeof(place));
  return place;
}

}  // namespace

std::vector<std::uint64_t> read_jump_table(const Instruction& jump, const FrameState& state,
                                           const FunctionCode& code) {
  const auto table = find_table(jump, state);
  std::vector<std::uint64_t> targets;
  if (!table.has_value() || !code.read_bytes) {
    return targets;
  }
  const auto bound = state.compared_constant();
  const bool is_bounded =
      bound.has_value() && *bound >= 0 && *bound < static_cast<std::int64_t>(kMaxTableEntries);
  const std::size_t count = is_bounded ? static_cast<std::size_t>(*bound) + 1 : kMaxTableEntries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto target = read_entry(*table, i, code.read_bytes);
    // Out of a bounded table some ways lead to a part of the function that lies elsewhere.
    const bool is_inside = target.has_value() && *target - code.address < code.bytes.size();
    if (is_inside) {
      targets.push_back(*target);
    } else if (!is_bounded || !target.has_value()) {
      break;
    }
  }
  return targets;
}

}  // namespace lumbre
