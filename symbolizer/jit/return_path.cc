#include "symbolizer/jit/return_path.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "symbolizer/jit/path_state.h"

namespace lumbre {
namespace {

constexpr std::size_t kWindowBytes = 4096;

// How a block of code goes on.
struct BlockEnd {
  enum class Kind { kDead, kReturn, kNext };
  Kind kind = Kind::kDead;
  std::uint64_t next[2] = {0, 0};
  unsigned count = 0;
};

bool is_dead_end(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_INT3:
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_IRET:
    case ZYDIS_MNEMONIC_IRETD:
    case ZYDIS_MNEMONIC_IRETQ:
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_ENTER:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct ReturnPaths::State {
  explicit State(CodeReader code_reader) : reader(std::move(code_reader)) {
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    window.reserve(kWindowBytes);
  }

  bool decode(std::uint64_t address);
  BlockEnd run_block(std::uint64_t address, PathState& state, std::optional<ReturnRule>& rule);
  BlockEnd end_of_branch() const;
  std::optional<ReturnRule> follow(std::uint64_t address, unsigned depth);

  CodeReader reader;
  ZydisDecoder decoder;
  std::vector<std::byte> window;  // code from window_start on
  std::uint64_t window_start = 0;
  Instruction instruction;
  unsigned budget = 0;
  std::unordered_map<std::uint64_t, ReturnRule> known;
  std::unordered_set<std::uint64_t> tried;  // for the question being answered
};

bool ReturnPaths::State::decode(std::uint64_t address) {
  const bool is_inside = address >= window_start &&
                         address - window_start + ZYDIS_MAX_INSTRUCTION_LENGTH <= window.size();
  if (!is_inside) {
    window.resize(kWindowBytes);
    window.resize(reader(address, window));
    window_start = address;
  }
  const std::size_t at = static_cast<std::size_t>(address - window_start);
  instruction.address = address;
  return at < window.size() &&
         ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, window.data() + at, window.size() - at,
                                             &instruction.decoded, instruction.operands));
}

// Of a jump: where it may go, straight on first.
BlockEnd ReturnPaths::State::end_of_branch() const {
  BlockEnd end;
  ZyanU64 target = 0;
  const bool has_target =
      instruction.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
      ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction.decoded, &instruction.operands[0],
                                            instruction.address, &target));
  if (instruction.decoded.meta.category == ZYDIS_CATEGORY_COND_BR) {
    end.next[end.count++] = instruction.end();
  }
  if (has_target) {
    end.next[end.count++] = target;
  }
  end.kind = end.count == 0 ? BlockEnd::Kind::kDead : BlockEnd::Kind::kNext;
  return end;
}

BlockEnd ReturnPaths::State::run_block(std::uint64_t address, PathState& state,
                                       std::optional<ReturnRule>& rule) {
  const std::uint64_t line = address / kBlockBytes;
  while (address / kBlockBytes == line) {
    if (budget == 0 || !decode(address)) {
      return {};
    }
    --budget;
    const auto category = instruction.decoded.meta.category;
    if (instruction.decoded.mnemonic == ZYDIS_MNEMONIC_RET) {
      rule = state.at_return(instruction);
      return {BlockEnd::Kind::kReturn, {}, 0};
    }
    if (category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR) {
      return end_of_branch();
    }
    if (is_dead_end(instruction.decoded.mnemonic)) {
      return {};
    }
    state.apply(instruction);
    address = instruction.end();
  }
  return {BlockEnd::Kind::kNext, {address, 0}, 1};
}

std::optional<ReturnRule> ReturnPaths::State::follow(std::uint64_t address, unsigned depth) {
  if (const auto found = known.find(address); found != known.end()) {
    return found->second;
  }
  if (depth == 0 || !tried.insert(address).second) {
    return std::nullopt;
  }
  PathState state;
  std::optional<ReturnRule> rule;
  const BlockEnd end = run_block(address, state, rule);
  for (unsigned i = 0; i < end.count && !rule.has_value(); ++i) {
    if (const auto after = follow(end.next[i], depth - 1)) {
      rule = state.before(*after);
    }
  }
  if (rule.has_value() && known.size() < kMaxKept) {
    known.emplace(address, *rule);
  }
  return rule;
}

ReturnPaths::ReturnPaths(CodeReader reader) : state_(std::make_unique<State>(std::move(reader))) {}
ReturnPaths::~ReturnPaths() = default;
ReturnPaths::ReturnPaths(ReturnPaths&&) noexcept = default;

std::optional<ReturnRule> ReturnPaths::find(std::uint64_t address) {
  state_->budget = kMaxInstructions;
  state_->tried.clear();
  return state_->follow(address, kMaxDepth);
}

void ReturnPaths::forget() {
  state_->known.clear();
  state_->window.clear();
}

}  // namespace lumbre
