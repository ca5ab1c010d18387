#include "symbolizer/code/function_splitter.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "symbolizer/code/instruction.h"

namespace lumbre {
namespace {

using Kind = InstructionKind;

struct Jump {
  std::uint64_t from = 0, to = 0;
};

struct Start {
  bool is_called = false;
  bool is_marked = false;  // endbr64 behind the end of other code
  bool is_strong() const { return is_called || is_marked; }
};

class Splitter {
 public:
  Splitter(std::span<const std::byte> bytes, std::uint64_t address)
      : bytes_(bytes), address_(address) {}

  std::vector<FunctionPart> run() {
    sweep();
    drop_reached_starts();
    drop_starts_within_jumps();
    std::vector<FunctionPart> parts;
    for (const auto& [start, what] : starts_) {
      if (!parts.empty()) {
        parts.back().end = start;
      }
      parts.push_back({start, address_ + bytes_.size(), what.is_called});
    }
    return parts;
  }

 private:
  using Starts = std::map<std::uint64_t, Start>;

  bool contains(std::uint64_t address) const { return address - address_ < bytes_.size(); }

  // endbr64: the beginning of what is called through pointers.
  bool is_landing_pad(std::size_t offset) const {
    static constexpr std::byte kCode[] = {std::byte{0xf3}, std::byte{0x0f}, std::byte{0x1e},
                                          std::byte{0xfa}};
    const auto rest = bytes_.subspan(offset);
    return rest.size() >= std::size(kCode) &&
           std::equal(std::begin(kCode), std::end(kCode), rest.begin());
  }

  // What stands before the instruction that is read, but for padding.
  enum class Behind {
    kCode,
    kCall,   // which may never return
    kTable,  // an indirect jump; the table's targets stand behind it
    kEnd
  };
  static Behind behind(const Instruction& instruction) {
    switch (instruction.kind) {
      case Kind::kCall:
        return Behind::kCall;
      case Kind::kJump:
      case Kind::kReturn:
      case Kind::kStop:
      case Kind::kJumpMemory:
        return Behind::kEnd;
      case Kind::kJumpRegister:
      case Kind::kJumpTable:
        return Behind::kTable;
      default:
        return Behind::kCode;
    }
  }

  // Reads the code from its beginning; where it is read out of step it soon falls into step.
  void sweep() {
    constexpr std::byte kZero{0};
    Behind before = Behind::kEnd;
    bool has_padding = false;
    for (std::size_t offset = 0; offset < bytes_.size();) {
      const bool can_be_padding = before != Behind::kCode;
      const auto instruction = can_be_padding && bytes_[offset] == kZero
                                   ? std::nullopt
                                   : decode_instruction(bytes_.subspan(offset), address_ + offset);
      if (!instruction.has_value()) {
        before = before == Behind::kTable ? before : Behind::kEnd;
        ++offset;
        continue;
      }
      const bool is_marked = can_be_padding && is_landing_pad(offset);
      const bool is_stop = instruction->kind == Kind::kStop;
      if (can_be_padding && !is_marked && (is_stop || instruction->kind == Kind::kNothing)) {
        before = is_stop && before == Behind::kCall ? Behind::kEnd : before;
        has_padding = true;
      } else {
        note_start(offset, before, is_marked, has_padding);
        note(*instruction, offset);
        before = behind(*instruction);
        has_padding = false;
      }
      offset += instruction->length;
    }
  }

  void note_start(std::size_t offset, Behind before, bool is_marked, bool has_padding) {
    constexpr std::uint64_t kAlignment = 16;
    const std::uint64_t address = address_ + offset;
    const bool is_behind_last_call =
        before == Behind::kCall && has_padding && address % kAlignment == 0;
    if (is_marked || is_behind_last_call || before == Behind::kEnd) {
      starts_[address].is_marked = is_marked;
    }
  }

  void note(const Instruction& instruction, std::size_t offset) {
    if (!contains(instruction.destination)) {
      return;
    }
    const std::uint64_t from = address_ + offset;
    if (instruction.kind == Kind::kCall) {
      if (instruction.destination != from + instruction.length) {  // not to ask where it is
        starts_[instruction.destination].is_called = true;
      }
    } else if (instruction.kind == Kind::kJump || instruction.kind == Kind::kConditionalJump) {
      jumps_.push_back({from, instruction.destination});
    }
  }

  // A start that a jump leads to is none if the jump stands between the sure starts around it.
  void drop_reached_starts() {
    std::sort(jumps_.begin(), jumps_.end(),
              [](const Jump& left, const Jump& right) { return left.to < right.to; });
    std::vector<std::uint64_t> sure, dropped;
    for (const auto& [start, what] : starts_) {
      if (what.is_strong() || jumps_to(start).empty()) {
        sure.push_back(start);
      }
    }
    for (const auto& [start, what] : starts_) {
      const auto after = std::upper_bound(sure.begin(), sure.end(), start);
      const bool is_sure = after != sure.begin() && *std::prev(after) == start;
      if (is_sure || after == sure.begin()) {
        continue;
      }
      const std::uint64_t low = *std::prev(after);
      const std::uint64_t high = after == sure.end() ? address_ + bytes_.size() : *after;
      const auto jumps = jumps_to(start);
      const bool is_reached = std::any_of(jumps.begin(), jumps.end(), [&](const Jump& jump) {
        return jump.from >= low && jump.from < high;
      });
      if (is_reached) {
        dropped.push_back(start);
      }
    }
    for (const std::uint64_t start : dropped) {
      starts_.erase(start);
    }
  }

  std::span<const Jump> jumps_to(std::uint64_t address) const {
    const auto begin =
        std::lower_bound(jumps_.begin(), jumps_.end(), address,
                         [](const Jump& jump, std::uint64_t value) { return jump.to < value; });
    auto end = begin;
    while (end != jumps_.end() && end->to == address) {
      ++end;
    }
    return {begin, end};
  }

  // Where a jump leads into the middle of a function it comes from the same function, so no weak
  // start lies between, unless a strong one does.
  void drop_starts_within_jumps() {
    std::vector<std::uint64_t> strong;
    for (const auto& [start, what] : starts_) {
      if (what.is_strong()) {
        strong.push_back(start);
      }
    }
    for (const Jump& jump : jumps_) {
      const auto [low, high] = std::minmax(jump.from, jump.to);
      const auto next = std::upper_bound(strong.begin(), strong.end(), low);
      const bool has_strong = next != strong.end() && *next <= high;
      if (!has_strong && !starts_.contains(jump.to)) {
        starts_.erase(starts_.upper_bound(low), starts_.upper_bound(high));
      }
    }
  }

  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  Starts starts_;
  std::vector<Jump> jumps_;  // by target once the sweep is done
};

}  // namespace

std::vector<FunctionPart> split_functions(std::span<const std::byte> bytes, std::uint64_t address) {
  return Splitter(bytes, address).run();
}

}  // namespace lumbre
