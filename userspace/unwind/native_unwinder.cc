#include "userspace/unwind/native_unwinder.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "symbolizer/code/call_site.h"
#include "symbolizer/dwarf/cfi_step.h"

namespace lumbre {
namespace {

constexpr std::size_t kRuleCacheEntries = 1 << 15;

// Words of the copied stack; remembers the address that it could not give.
class CopiedStack : public StackReader {
 public:
  explicit CopiedStack(const StackSample& sample)
      : bytes_(sample.stack), holes_(sample.stack_holes), start_(sample.stack_start) {}
  bool read_word(std::uint64_t address, std::uint64_t& word) override {
    if (address < start_ || bytes_.size() < sizeof(word) ||
        address - start_ > bytes_.size() - sizeof(word) || is_in_hole(address)) {
      failed_address_ = address;
      return false;
    }
    std::memcpy(&word, bytes_.data() + (address - start_), sizeof(word));
    return true;
  }
  std::uint64_t failed_address() const { return failed_address_; }
  bool is_in_hole(std::uint64_t address) const {
    return std::any_of(holes_.begin(), holes_.end(), [address](const auto& hole) {
      return address + sizeof(address) > hole.first && address < hole.second;
    });
  }

 private:
  std::span<const std::byte> bytes_;
  std::span<const std::pair<std::uint64_t, std::uint64_t>> holes_;
  std::uint64_t start_;
  std::uint64_t failed_address_ = 0;
};

// musl's signal return has no unwind data; what it does says what it is:
// mov $SYS_rt_sigreturn,%eax or %rax; syscall
bool is_signal_return(const ElfFile& file, ImageAddress address) {
  static constexpr unsigned char kLong[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
  static constexpr unsigned char kShort[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  const auto starts_with = [&](std::span<const unsigned char> code) {
    const auto bytes = file.bytes_at(address, code.size());
    return bytes.size() >= code.size() && std::memcmp(bytes.data(), code.data(), code.size()) == 0;
  };
  return starts_with(kLong) || starts_with(kShort);
}

bool is_main_thread(const StackSample& sample) {
  return sample.sample.task.host_pid == sample.sample.task.host_tid;
}

// In the middle of an exec or an exit the registers are of an image whose memory is gone.
void name_change_of_image(const StackSample& sample, NativeStack& stack) {
  const int call = sample.sample.system_call;
  if (call == __NR_execve || call == __NR_execveat) {
    stack.end = NativeEnd::kExecuting;
  } else if ((sample.sample.flags & LUMBRE_SAMPLE_IN_KERNEL) != 0 &&
             sample.sample.stack_end == LUMBRE_STACK_NONE) {
    stack.end = NativeEnd::kExiting;
  } else {
    return;
  }
  stack.end_module = kNoModule;
}

}  // namespace

const char* native_end_text(NativeEnd end) {
  switch (end) {
#define LUMBRE_NATIVE_END_CASE(id, text) \
  case NativeEnd::id:                    \
    return text;
    LUMBRE_NATIVE_ENDS(LUMBRE_NATIVE_END_CASE)
#undef LUMBRE_NATIVE_END_CASE
  }
  return "";
}

std::uint64_t instruction_address(const lumbre_native_frame& frame) {
  constexpr std::uint64_t kInstruction = std::uint64_t{1} << LUMBRE_NATIVE_PC_INSTRUCTION_BIT;
  return (frame.pc & kInstruction) != 0 ? frame.pc & ~kInstruction : frame.pc - 1;
}

struct NativeUnwinder::Walk {
  const StackSample& sample;
  Process* process;
  CopiedStack memory;
  lumbre_registers registers;
  NativeStack& stack;
  bool is_leaf_like = true;              // rip is an instruction, not a return address
  bool is_trial = false;                 // from a caller that may be none
  std::vector<std::size_t> synthesised;  // frames whose rule was found from instructions
  std::vector<std::size_t> inferred;     // frames that JitStep stepped from
};

NativeUnwinder::NativeUnwinder(ProcessTable& processes, JitCodes& codes, std::size_t max_frames)
    : processes_(processes),
      max_frames_(max_frames),
      without_rules_(processes, codes),
      rules_(kRuleCacheEntries) {}

const NativeUnwinder::CachedRule& NativeUnwinder::find_rule(Module& module, ImageAddress address) {
  const std::uint64_t hash = (address.value * 0x9e3779b97f4a7c15ULL) ^ (module.id * 0x85ebca6bULL);
  CachedRule& cached = rules_[(hash >> 32) % kRuleCacheEntries];
  if (cached.address != address.value || cached.module != module.id) {
    cached = {address.value, module.id, RuleSource::kNone, {}};
    if (const auto row = module.cfi->find_rule(address)) {
      cached.rule = row->rule;
      cached.source = RuleSource::kCfi;
    } else if (const auto found = module.synthesised->find(address, module.symbols())) {
      const bool is_proven = found->certainty == RuleCertainty::kProven;
      cached.rule = found->rule;
      cached.source = is_proven ? RuleSource::kProven : RuleSource::kGuess;
    }
  }
  return cached;
}

// Says which module the frame's code is in; sets the walk's end where it cannot go on from there.
std::optional<ProcessTable::Place> NativeUnwinder::place_frame(Process& process,
                                                               std::uint64_t time_ns,
                                                               NativeFrame& frame,
                                                               NativeStack& stack) {
  frame.address = frame.pc;
  const ProcessMapping* mapping = process.find({frame.pc});
  if (mapping == nullptr) {
    processes_.reread(process, time_ns);
    mapping = process.find({frame.pc});
  }
  stack.end_module = kNoModule;
  if (mapping == nullptr) {
    stack.end = NativeEnd::kNoMapping;
    return std::nullopt;
  }
  if (mapping->module == kNoModule) {
    stack.end = NativeEnd::kJitCode;
    return std::nullopt;
  }
  frame.module = mapping->module;
  stack.end_module = mapping->module;
  const auto place = processes_.locate(*mapping, {frame.pc});
  if (!place.has_value()) {
    stack.end = NativeEnd::kUnreadableFile;
    return std::nullopt;
  }
  frame.address = place->address.value;
  return place;
}

void NativeUnwinder::take_kernel_walk(const StackSample& sample, Process& process,
                                      NativeStack& stack) {
  const std::size_t count = std::min(sample.native.size(), max_frames_);
  for (std::size_t i = 0; i < count; ++i) {
    NativeFrame& frame = stack.frames.emplace_back();
    frame.pc = instruction_address(sample.native[i]);
    frame.sp = sample.native[i].sp;
    frame.cfa = i + 1 < sample.native.size() ? sample.native[i + 1].sp : 0;
    place_frame(process, sample.time_ns(), frame, stack);
  }
  stack.end = count < sample.native.size() ? NativeEnd::kTooManyFrames : NativeEnd::kRoot;
  stack.end_module = kNoModule;
}

NativeEnd NativeUnwinder::end_of_failed_read(const Walk& walk) {
  const StackSample& sample = walk.sample;
  const std::uint64_t address = walk.memory.failed_address();
  const std::uint64_t copy_end = sample.stack_start + sample.stack.size();
  // Before the first page that was readable: it begins below the stack pointer.
  const bool is_before_copy =
      address < sample.stack_start && address >= sample.sample.registers.value[LUMBRE_RSP];
  if (is_before_copy || walk.memory.is_in_hole(address)) {
    return NativeEnd::kStackNotReadable;
  }
  const bool is_far = address < sample.stack_start || address > copy_end + (64ULL << 20);
  if (is_far && !sample.stack.empty()) {
    return NativeEnd::kBrokenStack;
  }
  switch (sample.sample.stack_end) {
    case LUMBRE_STACK_FAULT:
      return NativeEnd::kStackNotReadable;
    case LUMBRE_STACK_LIMIT:
      return NativeEnd::kStackTooLong;
    case LUMBRE_STACK_NO_ROOM:
      return NativeEnd::kRingBufferFull;
    default:
      return NativeEnd::kBrokenStack;
  }
}

NativeEnd NativeUnwinder::end_of_step(const Walk& walk, lumbre_step_result result) {
  switch (result) {
    case LUMBRE_STEP_ROOT:
      return NativeEnd::kRoot;
    case LUMBRE_STEP_NO_RULE:
      return NativeEnd::kNoUnwindData;
    case LUMBRE_STEP_READ_FAULT:
      return end_of_failed_read(walk);
    case LUMBRE_STEP_UNKNOWN_REGISTER:
    case LUMBRE_STEP_NEEDS_FULL:
      return NativeEnd::kUnsupportedRule;
    default:
      return NativeEnd::kBrokenStack;
  }
}

// Leaves the walk's end as it is where there is no caller to be found.
bool NativeUnwinder::step_without_rule(Walk& walk, std::size_t frame) {
  const JitStep::Place place{*walk.process, walk.registers.value[LUMBRE_RIP], walk.is_leaf_like,
                             walk.sample.time_ns()};
  const JitStep::Outcome outcome = without_rules_.step(place, walk.registers, walk.memory);
  if (outcome == JitStep::Outcome::kNone) {
    return !walk.is_trial && walk.stack.end == NativeEnd::kJitCode && try_callers(walk, frame);
  }
  walk.stack.is_approximate |= outcome == JitStep::Outcome::kGuess;
  walk.inferred.push_back(frame);
  walk.stack.frames[frame].cfa = walk.registers.value[LUMBRE_RSP];
  walk.stack.end = NativeEnd::kRoot;
  walk.stack.end_module = kNoModule;
  walk.is_leaf_like = false;
  return true;
}

// A return address counts as the caller's if the rest of the stack unwinds from there to its root.
bool NativeUnwinder::try_callers(Walk& walk, std::size_t frame) {
  const JitStep::Place place{*walk.process, walk.registers.value[LUMBRE_RIP], walk.is_leaf_like,
                             walk.sample.time_ns()};
  const NativeEnd end = walk.stack.end;
  for (const lumbre_registers& caller :
       without_rules_.possible_callers(place, walk.registers, walk.memory)) {
    Walk trial{walk.sample, walk.process, walk.memory, caller, walk.stack, false, true, {}, {}};
    walk.stack.end = NativeEnd::kRoot;
    run(trial);
    if (walk.stack.end == NativeEnd::kRoot) {
      walk.stack.is_approximate = true;
      walk.stack.frames[frame].cfa = caller.value[LUMBRE_RSP];
      return false;  // the trial was the walk
    }
    walk.stack.frames.resize(frame + 1);
    if (walk.stack.end == NativeEnd::kUnsupportedRule) {
      break;  // it may well be the caller, of which too little is known to go on: none beyond it is
    }
  }
  walk.stack.end = end;
  walk.stack.end_module = kNoModule;
  return false;
}

// Adds the frame that the registers stand for and steps to its caller; false ends the walk.
bool NativeUnwinder::step(Walk& walk) {
  NativeFrame frame;
  frame.pc = walk.registers.value[LUMBRE_RIP] - (walk.is_leaf_like ? 0 : 1);
  frame.sp = walk.registers.value[LUMBRE_RSP];
  const auto place = place_frame(*walk.process, walk.sample.time_ns(), frame, walk.stack);
  NativeFrame& added = walk.stack.frames.emplace_back(frame);
  const std::size_t index = walk.stack.frames.size() - 1;
  if (!place.has_value()) {
    return walk.stack.end == NativeEnd::kJitCode && step_without_rule(walk, index);
  }
  const CachedRule& cached = find_rule(*place->module, place->address);
  const RuleSource source = cached.source;
  lumbre_unwind_rule rule = cached.rule;
  if (source != RuleSource::kCfi) {
    const ImageAddress here{place->address.value + (walk.is_leaf_like ? 0 : 1)};
    if (!is_signal_return(*place->module->elf, here)) {
      return step_without_cfi(walk, rule, source);
    }
    rule.cfa_kind = LUMBRE_CFA_SIGNAL;
  }
  lumbre_step_result result = step_by_rule(rule, walk.registers, walk.memory);
  if (result == LUMBRE_STEP_NEEDS_FULL) {
    const auto row = place->module->cfi->find_row(place->address);
    result = row.has_value() ? step_by_row(*row, walk.registers, walk.memory, place->bias)
                             : LUMBRE_STEP_NO_RULE;
  }
  if (result != LUMBRE_STEP_OK) {
    walk.stack.end = end_of_step(walk, result);
    return false;
  }
  added.cfa = walk.registers.value[LUMBRE_RSP];
  walk.is_leaf_like = rule.cfa_kind == LUMBRE_CFA_SIGNAL;
  return true;
}

// Steps from the last frame by a rule that was found from its instructions. What is proven of the
// whole function goes first, then what the code from here to its return says, then guesses.
bool NativeUnwinder::step_without_cfi(Walk& walk, const lumbre_unwind_rule& rule,
                                      RuleSource source) {
  const std::size_t frame = walk.stack.frames.size() - 1;
  // Where a program starts there is nothing above: its first stack pointer says that it is so.
  if (walk.stack.frames[frame].sp == walk.sample.sample.stack_top && is_main_thread(walk.sample)) {
    walk.stack.end = NativeEnd::kRoot;
    return false;
  }
  const ModuleId module = walk.stack.end_module;
  walk.stack.end = NativeEnd::kNoUnwindData;
  if (source == RuleSource::kProven && step_by_synthesised(walk, rule)) {
    return true;
  }
  const bool was_approximate = walk.stack.is_approximate;
  const lumbre_registers here = walk.registers;
  const bool has_stepped = step_without_rule(walk, frame);
  if (source != RuleSource::kGuess ||
      (has_stepped && walk.stack.is_approximate == was_approximate)) {
    return has_stepped;
  }
  walk.stack.end = NativeEnd::kNoUnwindData;
  walk.stack.end_module = module;
  walk.registers = here;
  walk.stack.is_approximate = was_approximate;
  if (has_stepped) {
    walk.inferred.pop_back();
  }
  if (!step_by_synthesised(walk, rule)) {
    return false;
  }
  walk.stack.is_approximate = true;
  return true;
}

// The return address must prove to be one.
bool NativeUnwinder::step_by_synthesised(Walk& walk, const lumbre_unwind_rule& rule) {
  const lumbre_registers here = walk.registers;
  const lumbre_step_result result = step_by_rule(rule, walk.registers, walk.memory);
  if (result == LUMBRE_STEP_READ_FAULT) {
    walk.stack.end = end_of_failed_read(walk);
  }
  if (result != LUMBRE_STEP_OK || !is_at_return_address(walk)) {
    walk.registers = here;
    return false;
  }
  walk.stack.end = NativeEnd::kRoot;
  walk.synthesised.push_back(walk.stack.frames.size() - 1);
  walk.stack.frames.back().cfa = walk.registers.value[LUMBRE_RSP];
  walk.is_leaf_like = false;
  return true;
}

// Whether a call stands before the place that the registers stand for.
bool NativeUnwinder::is_at_return_address(const Walk& walk) {
  const ProcessAddress call_end{walk.registers.value[LUMBRE_RIP] - 1};
  const ProcessMapping* mapping = walk.process->find(call_end);
  if (mapping == nullptr) {
    return false;
  }
  if (mapping->module == kNoModule) {
    const JitStep::Place place{*walk.process, call_end.value, false, walk.sample.time_ns()};
    return without_rules_.is_return_address(place, call_end.value + 1);
  }
  const auto place = processes_.locate(*mapping, call_end);
  if (!place.has_value()) {
    return false;
  }
  const std::uint64_t length = std::min<std::uint64_t>(kLongestCallBytes, place->address.value);
  return ends_in_call(place->module->elf->bytes_at({place->address.value + 1 - length}, length));
}

// What was found without unwind data stands if all that follows fits.
void NativeUnwinder::finish(Walk& walk) {
  NativeStack& stack = walk.stack;
  switch (stack.end) {
    case NativeEnd::kRoot:
      for (const std::size_t index : walk.synthesised) {
        const NativeFrame& frame = stack.frames[index];
        processes_.modules().at(frame.module).synthesised->confirm({frame.address});
      }
      return;
    case NativeEnd::kStackNotReadable:
    case NativeEnd::kStackTooLong:
    case NativeEnd::kRingBufferFull:
    case NativeEnd::kTooManyFrames:
    case NativeEnd::kJitCode:
      return;  // nothing speaks against it
    default:
      break;
  }
  if (walk.synthesised.empty() && walk.inferred.empty()) {
    return;
  }
  std::size_t first = stack.frames.size();
  for (const auto* each : {&walk.synthesised, &walk.inferred}) {
    first = each->empty() ? first : std::min(first, each->front());
  }
  stack.frames.resize(first + 1);
  stack.frames.back().cfa = 0;
  stack.end_module = stack.frames.back().module;
  stack.end = stack.end_module == kNoModule ? NativeEnd::kJitCode : NativeEnd::kNoUnwindData;
  stack.is_approximate = false;
}

void NativeUnwinder::run(Walk& walk) {
  while (step(walk)) {
    if (walk.stack.frames.size() >= max_frames_) {
      walk.stack.end = NativeEnd::kTooManyFrames;
      return;
    }
  }
}

void NativeUnwinder::unwind(const StackSample& sample, NativeStack& stack) {
  stack.frames.clear();
  stack.end = NativeEnd::kRoot;
  stack.end_module = kNoModule;
  stack.is_approximate = false;
  if ((sample.sample.flags & LUMBRE_SAMPLE_USER_REGISTERS) == 0) {
    stack.end = NativeEnd::kNoUserStack;
    return;
  }
  if (sample.sample.task.visible_pid == 0) {
    stack.end = NativeEnd::kNotVisible;
    return;
  }
  Process* process = processes_.find(sample.sample.task.visible_pid);
  if ((sample.sample.flags & LUMBRE_SAMPLE_32BIT) != 0 || process == nullptr) {
    stack.end = process == nullptr ? NativeEnd::kProcessUnknown : NativeEnd::k32Bit;
    return;
  }
  if (sample.sample.native_end == LUMBRE_WALK_ROOT &&
      (sample.sample.flags & LUMBRE_SAMPLE_CHECKED) == 0) {
    take_kernel_walk(sample, *process, stack);
    return;
  }
  Walk walk{sample, process, CopiedStack(sample), sample.sample.registers, stack, true, false,
            {},     {}};
  run(walk);
  finish(walk);
  if (stack.end != NativeEnd::kRoot && stack.end != NativeEnd::kTooManyFrames) {
    name_change_of_image(sample, stack);
  }
}

}  // namespace lumbre
