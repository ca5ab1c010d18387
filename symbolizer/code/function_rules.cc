#include "symbolizer/code/function_rules.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>

#include "symbolizer/code/frame_state.h"
#include "symbolizer/code/jump_table.h"
#include "symbolizer/code/rule_of_state.h"

namespace lumbre {
namespace {

using Kind = InstructionKind;

constexpr std::size_t kMaxFunctionBytes = std::size_t{4} << 20;
// Each pass knows the jump tables that the ones before have found.
constexpr int kMaxPasses = 8;
constexpr std::uint32_t kNoInstruction = ~std::uint32_t{0};

bool is_equal(const SynthesisedRule& left, const SynthesisedRule& right) {
  return left.certainty == right.certainty &&
         std::memcmp(&left.rule, &right.rule, sizeof(left.rule)) == 0;
}

class FunctionAnalysis {
 public:
  explicit FunctionAnalysis(const FunctionCode& code) : code_(code) {
    code_.bytes = code_.bytes.first(std::min(code_.bytes.size(), kMaxFunctionBytes));
    marks_.resize(code_.bytes.size());
    places_.resize(code_.bytes.size());
  }

  FunctionRules run() {
    FrameState entry = FrameState::at_entry();
    if (!code_.is_entry_proven) {
      entry.set_guess();
    }
    discover(0);
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      has_new_leaders_ = false;
      states_.clear();
      arrive(0, entry);
      for (const std::size_t place : local_functions_) {
        arrive(place, entry);
      }
      drain();
      if (!has_new_leaders_) {
        break;
      }
    }
    has_doubt_ = has_doubt_ || has_new_leaders_;
    emit();
    guess_the_rest();
    return FunctionRules(make_rows());
  }

 private:
  enum Mark : std::uint8_t { kUnseen = 0, kStart = 1, kInside = 2, kLeader = 4 };
  struct Block {
    FrameState state;
    bool is_queued = false;
  };
  struct Emitted {
    std::size_t offset;
    std::uint8_t length;
    bool is_known;
    SynthesisedRule rule;
  };

  bool spend() {
    ++steps_;
    has_doubt_ = has_doubt_ || steps_ > kMaxAnalysisSteps;
    return steps_ <= kMaxAnalysisSteps;
  }

  // Decoding costs more than all else: each place once. Null where there is no instruction.
  const Instruction* decode(std::size_t offset) {
    if (offset >= places_.size()) {
      return nullptr;
    }
    if (places_[offset] == 0) {
      const auto instruction =
          decode_instruction(code_.bytes.subspan(offset), code_.address + offset);
      if (instruction.has_value()) {
        instructions_.push_back(*instruction);
      }
      places_[offset] = instruction.has_value() ? static_cast<std::uint32_t>(instructions_.size())
                                                : kNoInstruction;
    }
    return places_[offset] == kNoInstruction ? nullptr : &instructions_[places_[offset] - 1];
  }
  std::optional<std::size_t> inside(std::uint64_t address) const {
    const std::uint64_t offset = address - code_.address;
    return offset < code_.bytes.size() ? std::optional(static_cast<std::size_t>(offset))
                                       : std::nullopt;
  }

  void mark_instruction(std::size_t offset, std::size_t length) {
    marks_[offset] |= kStart;
    for (std::size_t i = 1; i < length && offset + i < marks_.size(); ++i) {
      marks_[offset + i] |= kInside;
    }
  }

  // Marks the instructions that direct jumps lead to, and where blocks begin.
  void discover(std::size_t from) {
    std::vector<std::size_t> todo{from};
    while (!todo.empty()) {
      std::size_t offset = todo.back();
      todo.pop_back();
      if (offset >= marks_.size()) {
        continue;
      }
      marks_[offset] |= kLeader;
      while (offset < marks_.size() && (marks_[offset] & kStart) == 0 && spend()) {
        const Instruction* instruction = decode(offset);
        if (instruction == nullptr) {
          break;
        }
        mark_instruction(offset, instruction->length);
        note_targets(*instruction, offset, todo);
        offset += instruction->length;
        if (ends_block(*instruction)) {
          break;
        }
      }
    }
  }

  void note_targets(const Instruction& instruction, std::size_t offset,
                    std::vector<std::size_t>& todo) {
    const bool is_direct = instruction.kind == Kind::kJump || instruction.kind == Kind::kCall ||
                           instruction.kind == Kind::kConditionalJump;
    const auto target = is_direct ? inside(instruction.destination) : std::nullopt;
    if (!target.has_value()) {
      return;
    }
    if (instruction.kind == Kind::kCall) {
      if (*target == offset + instruction.length) {
        return;  // asks for its own address
      }
      local_functions_.push_back(*target);
    }
    todo.push_back(*target);
  }

  static bool ends_block(const Instruction& instruction) {
    switch (instruction.kind) {
      case Kind::kJump:
      case Kind::kJumpRegister:
      case Kind::kJumpTable:
      case Kind::kJumpMemory:
      case Kind::kReturn:
      case Kind::kStop:
        return true;
      default:
        return false;
    }
  }

  void arrive(std::size_t offset, const FrameState& state) {
    if (is_settled(offset)) {
      return;
    }
    const auto [block, is_new] = states_.try_emplace(offset, Block{state, false});
    const bool has_changed = is_new || block->second.state.join(state, code_.address + offset);
    if (has_changed && !block->second.is_queued) {
      block->second.is_queued = true;
      queue_.push_back(offset);
    }
  }

  void drain() {
    while (!queue_.empty() && spend()) {
      const std::size_t offset = queue_.back();
      queue_.pop_back();
      Block& block = states_.at(offset);
      block.is_queued = false;
      flow(offset, block.state);
    }
    queue_.clear();
  }

  // Follows a block from its leader to its end, or to the next leader.
  void flow(std::size_t offset, FrameState state) {
    bool is_first = true;
    while (offset < marks_.size() && spend()) {
      if (!is_first && (marks_[offset] & kLeader) != 0) {
        arrive(offset, state);
        return;
      }
      is_first = false;
      const Instruction* instruction = decode(offset);
      if (instruction == nullptr) {
        return;
      }
      const std::size_t next = offset + instruction->length;
      if (!step(*instruction, offset, next, state)) {
        return;
      }
      offset = next;
    }
  }

  // False at the end of the block.
  bool step(const Instruction& instruction, std::size_t offset, std::size_t next,
            FrameState& state) {
    switch (instruction.kind) {
      case Kind::kJump:
      case Kind::kConditionalJump:
        return jump(instruction, offset, state);
      case Kind::kJumpRegister:
      case Kind::kJumpTable:
      case Kind::kJumpMemory:
        jump_indirectly(instruction, state);
        return false;
      case Kind::kReturn:
        has_doubt_ = has_doubt_ || (!state.is_guess() && !state.is_at_return());
        return false;
      case Kind::kStop:
        return false;
      case Kind::kCall:
        if (instruction.destination == code_.address + next) {
          Instruction push;
          push.kind = Kind::kPush;
          state.apply(push, code_.address + offset);
          return true;
        }
        break;
      default:
        break;
    }
    state.apply(instruction, code_.address + offset);
    return true;
  }

  bool jump(const Instruction& instruction, std::size_t offset, FrameState& state) {
    const auto target = inside(instruction.destination);
    FrameState taken = state;
    state.apply(instruction, code_.address + offset);
    if (target.has_value() && (!instruction.is_equal_jump || taken.apply_equality())) {
      taken.apply(instruction, code_.address + offset);
      arrive(*target, taken);
    }
    return instruction.kind == Kind::kConditionalJump &&
           (!instruction.is_unequal_jump || state.apply_equality());
  }

  void jump_indirectly(const Instruction& instruction, const FrameState& state) {
    const auto targets = read_jump_table(instruction, state, code_);
    for (const std::uint64_t target : targets) {
      const std::size_t offset = *inside(target);
      const bool is_inside_instruction = (marks_[offset] & (kStart | kInside)) == kInside;
      if (is_inside_instruction) {
        break;
      }
      has_new_leaders_ = has_new_leaders_ || (marks_[offset] & kLeader) == 0;
      discover(offset);
      arrive(offset, state);
    }
    if (targets.empty() && !state.is_at_return() && !unresolved_.has_value()) {
      unresolved_ = state;
    }
  }

  // ---- results
  // -----------------------------------------------------------------------------------

  bool is_settled(std::size_t offset) const { return !settled_.empty() && settled_[offset]; }

  void emit() {
    for (const auto& [start, block] : states_) {
      FrameState state = block.state;
      bool is_first = true;
      for (std::size_t offset = start; offset < marks_.size();) {
        if (!is_first && (marks_[offset] & kLeader) != 0) {
          break;
        }
        is_first = false;
        const Instruction* instruction = decode(offset);
        if (instruction == nullptr || !emit_one(*instruction, offset, state)) {
          break;
        }
        offset += instruction->length;
      }
    }
  }

  bool emit_one(const Instruction& instruction, std::size_t offset, FrameState& state) {
    if (!is_settled(offset)) {
      const auto rule = rule_of_state(state, code_.prefers_frame_pointer);
      SynthesisedRule found;
      found.rule = rule.value_or(lumbre_unwind_rule{});
      found.certainty = state.is_guess() ? RuleCertainty::kGuess : RuleCertainty::kProven;
      emitted_.push_back({offset, instruction.length, rule.has_value(), found});
      if (rule.has_value()) {
        count_rule(found.rule, state);
      }
    }
    if (ends_block(instruction)) {
      return false;
    }
    const bool asks_for_address =
        instruction.kind == Kind::kCall &&
        instruction.destination == code_.address + offset + instruction.length;
    Instruction applied = instruction;
    if (asks_for_address) {
      applied = {};
      applied.kind = Kind::kPush;
    }
    state.apply(applied, code_.address + offset);
    return !instruction.is_unequal_jump || state.apply_equality();
  }

  void count_rule(const lumbre_unwind_rule& rule, const FrameState& state) {
    auto& [count, example] =
        frequencies_[std::string(reinterpret_cast<const char*>(&rule), sizeof(rule))];
    if (count++ == 0) {
      example = state;
    }
    if (count > steady_count_) {
      steady_count_ = count;
      steady_ = example;
    }
  }

  // Code that no analysed path reaches stands most likely behind a jump that was not understood.
  void guess_the_rest() {
    if (!unresolved_.has_value() && !steady_.has_value()) {
      return;
    }
    FrameState state = unresolved_.has_value() ? *unresolved_ : *steady_;
    state.set_guess();
    state.forget_passing_values();
    settled_.resize(marks_.size());
    states_.clear();
    settle();
    std::size_t offset = 0;
    while (offset < marks_.size() && spend()) {
      if (is_settled(offset)) {
        ++offset;
        continue;
      }
      const Instruction* instruction = decode(offset);
      const bool is_padding = instruction == nullptr || instruction->kind == Kind::kNothing ||
                              instruction->kind == Kind::kStop;
      if (is_padding) {
        offset += instruction != nullptr ? instruction->length : 1;
        continue;
      }
      discover(offset);
      arrive(offset, state);
      drain();
      emit();
      states_.clear();
      settle();
      offset += instruction->length;
    }
  }

  void settle() {
    for (; settled_count_ < emitted_.size(); ++settled_count_) {
      const Emitted& one = emitted_[settled_count_];
      const std::size_t end = std::min(one.offset + one.length, settled_.size());
      std::fill(settled_.begin() + static_cast<std::ptrdiff_t>(one.offset),
                settled_.begin() + static_cast<std::ptrdiff_t>(end), true);
    }
  }

  std::vector<SynthesisedRow> make_rows() {
    std::stable_sort(
        emitted_.begin(), emitted_.end(),
        [](const Emitted& left, const Emitted& right) { return left.offset < right.offset; });
    std::vector<SynthesisedRow> rows;
    for (std::size_t i = 0; i < emitted_.size(); ++i) {
      const Emitted& one = emitted_[i];
      std::size_t end = one.offset + one.length;
      if (i + 1 < emitted_.size()) {
        end = std::min(end, emitted_[i + 1].offset);
      }
      if (one.is_known && end > one.offset) {
        append(rows, one, end);
      }
    }
    return rows;
  }

  void append(std::vector<SynthesisedRow>& rows, const Emitted& one, std::size_t end) {
    SynthesisedRule rule = one.rule;
    if (has_doubt_) {
      rule.certainty = RuleCertainty::kGuess;
    }
    const std::uint64_t start = code_.address + one.offset;
    if (!rows.empty() && rows.back().end == start && is_equal(rows.back().rule, rule)) {
      rows.back().end = code_.address + end;
    } else {
      rows.push_back({start, code_.address + end, rule});
    }
  }

  FunctionCode code_;
  std::vector<std::uint8_t> marks_;    // enum Mark, by offset
  std::vector<std::uint32_t> places_;  // by offset: in instructions_, plus one; 0: not yet decoded
  std::deque<Instruction> instructions_;
  std::vector<bool> settled_;                      // a rule was found here on a better path
  std::size_t settled_count_ = 0;                  // of emitted_
  std::unordered_map<std::size_t, Block> states_;  // by leader
  std::vector<std::size_t> queue_;
  std::vector<std::size_t> local_functions_;
  std::vector<Emitted> emitted_;
  std::map<std::string, std::pair<std::size_t, FrameState>> frequencies_;
  std::size_t steady_count_ = 0;
  std::optional<FrameState> steady_, unresolved_;
  std::size_t steps_ = 0;
  bool has_new_leaders_ = false;
  bool has_doubt_ = false;  // all is a guess
};

}  // namespace

std::optional<SynthesisedRule> FunctionRules::find(std::uint64_t address) const {
  const auto after = std::upper_bound(
      rows_.begin(), rows_.end(), address,
      [](std::uint64_t value, const SynthesisedRow& row) { return value < row.start; });
  if (after == rows_.begin() || address >= std::prev(after)->end) {
    return std::nullopt;
  }
  return std::prev(after)->rule;
}

FunctionRules analyse_function(const FunctionCode& code) { return FunctionAnalysis(code).run(); }

}  // namespace lumbre
