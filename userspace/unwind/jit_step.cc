#include "userspace/unwind/jit_step.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/jit/call_site.h"
#include "symbolizer/procfs/memory.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kMaxPages = 4096;              // of one process
constexpr std::uint64_t kKeptForNs = 500'000'000;    // code may be written over
constexpr std::uint64_t kRetryAfterNs = 20'000'000;  // where it seems to have been
constexpr std::size_t kCheckedBytes = 16;
constexpr std::uint64_t kMaxFrameBytes = 16ULL << 20;  // of one frame
constexpr std::uint64_t kScanBytes = 64ULL << 10;
constexpr std::size_t kMaxCallers = 4;
constexpr std::uint64_t kPathBudgetNs = 200'000'000;  // at once, and then
constexpr std::uint64_t kPathBudgetShare = 50;        // one part in so many of the time

bool is_known(const lumbre_registers& registers, unsigned number) {
  return (registers.valid >> number & 1) != 0;
}

std::optional<std::uint64_t> evaluate(const PathValue& value, const lumbre_registers& registers,
                                      StackReader& stack) {
  if (value.kind == PathValue::Kind::kUnknown || value.base >= LUMBRE_RIP ||
      !is_known(registers, value.base)) {
    return std::nullopt;
  }
  const std::uint64_t sum =
      registers.value[value.base] + static_cast<std::uint64_t>(std::int64_t{value.offset});
  std::uint64_t word = sum;
  if (value.kind == PathValue::Kind::kSlot && !stack.read_word(sum, word)) {
    return std::nullopt;
  }
  return word;
}

void set(lumbre_registers& registers, unsigned number, std::optional<std::uint64_t> value) {
  registers.value[number] = value.value_or(0);
  const std::uint32_t bit = 1U << number;
  registers.valid = value.has_value() ? registers.valid | bit : registers.valid & ~bit;
}

}  // namespace

// The code of one process, as it was a moment ago.
struct JitStep::Code {
  explicit Code(std::uint32_t process_id)
      : pid(process_id),
        memory(static_cast<int>(process_id)),
        paths([this](std::uint64_t address, std::span<std::byte> into) {
          return read(address, into);
        }) {}

  const std::vector<std::byte>& page(std::uint64_t number) {
    const auto [at, is_new] = pages.try_emplace(number);
    if (is_new) {
      std::vector<std::byte> bytes(kPageBytes);
      if (memory.read({number * kPageBytes}, bytes).has_value()) {
        at->second = std::move(bytes);
      }
    }
    return at->second;
  }
  std::size_t read(std::uint64_t address, std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      const std::vector<std::byte>& bytes = page((address + done) / kPageBytes);
      const std::size_t at = static_cast<std::size_t>((address + done) % kPageBytes);
      if (bytes.empty()) {
        break;
      }
      const std::size_t count = std::min(into.size() - done, bytes.size() - at);
      std::memcpy(into.data() + done, bytes.data() + at, count);
      done += count;
    }
    return done;
  }
  // The code there is still as it was when it was read.
  bool is_unchanged(std::uint64_t address) {
    std::array<std::byte, kCheckedBytes> then{}, now{};
    return read(address, then) == then.size() && memory.read({address}, now).has_value() &&
           then == now;
  }
  void forget(std::uint64_t now_ns) {
    pages.clear();
    paths.forget();
    read_since_ns = now_ns;
  }
  // Reads all of it again. What was found out is kept while it is the same: finding it out takes a
  // thousand times longer.
  void look_again(std::uint64_t now_ns) {
    std::vector<std::byte> now(kPageBytes);
    const bool is_same = pages.size() <= kMaxPages &&
                         std::ranges::all_of(pages, [&](const auto& page) {
                           const bool is_readable =
                               memory.read({page.first * kPageBytes}, now).has_value();
                           return is_readable ? page.second == now : page.second.empty();
                         });
    if (is_same) {
      read_since_ns = now_ns;
    } else {
      forget(now_ns);
    }
  }

  std::uint32_t pid;
  LiveProcessMemory memory;
  std::unordered_map<std::uint64_t, std::vector<std::byte>> pages;  // empty: not readable
  ReturnPaths paths;
  std::uint64_t read_since_ns = 0;  // nothing of it is older
};

JitStep::JitStep(ProcessTable& processes, JitCodes& codes) : processes_(processes), codes_(codes) {}
JitStep::~JitStep() = default;

JitStep::Code& JitStep::code_of(const Place& place) {
  const auto found = std::find_if(code_.begin(), code_.end(),
                                  [&](const auto& each) { return each->pid == place.process.pid; });
  if (found != code_.end()) {
    code_.splice(code_.begin(), code_, found);
  } else {
    code_.push_front(std::make_unique<Code>(place.process.pid));
    if (code_.size() > kMaxProcesses) {
      code_.pop_back();
    }
  }
  Code& code = *code_.front();
  if (place.time_ns > code.read_since_ns + kKeptForNs || code.pages.size() > kMaxPages) {
    code.look_again(place.time_ns);
  }
  return code;
}

bool JitStep::is_return_address(const Place& place, std::uint64_t address) {
  const ProcessMapping* mapping =
      address <= kCallBytes ? nullptr : place.process.find({address - 1});
  std::array<std::byte, kCallBytes> bytes{};
  if (mapping == nullptr ||
      !code_of(place).memory.read({address - bytes.size()}, bytes).has_value()) {
    return false;
  }
  // HotSpot's interpreter has its callees return to the start of a piece of its code, which stands
  // behind the jump that ends another.
  return call_before(bytes) != CallKind::kNone ||
         (mapping->module == kNoModule && is_behind_indirect_jump(bytes) &&
          runtime_of(place) == Runtime::kHotSpot);
}

// Code of large functions takes milliseconds to follow, and each instruction of it is a question of
// its own: without a limit a job that runs such code would cost Lumbre more than all else.
bool JitStep::is_within_budget(const Place& place) {
  if (first_time_ns_ == 0) {
    first_time_ns_ = place.time_ns;
  }
  const std::uint64_t elapsed_ns = std::max(place.time_ns, first_time_ns_) - first_time_ns_;
  return spent_ns_ < kPathBudgetNs + elapsed_ns / kPathBudgetShare;
}

std::optional<ReturnRule> JitStep::find_path(Code& code, std::uint64_t pc) {
  const auto start = std::chrono::steady_clock::now();
  const auto rule = code.paths.find(pc);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  spent_ns_ += static_cast<std::uint64_t>(took.count());
  return rule;
}

bool JitStep::step_by_path(const Place& place, lumbre_registers& registers, StackReader& stack) {
  Code& code = code_of(place);
  if (!code.is_unchanged(place.pc)) {
    code.forget(place.time_ns);
  }
  const auto rule = is_within_budget(place) ? find_path(code, place.pc) : std::nullopt;
  if (!rule.has_value()) {
    return false;
  }
  const auto caller = evaluate(rule->return_address, registers, stack);
  if (!caller.has_value() || !is_return_address(place, *caller)) {
    return false;
  }
  auto caller_stack = evaluate(rule->caller_stack, registers, stack);
  if (!caller_stack.has_value() && rule->return_address.kind == PathValue::Kind::kSlot) {
    // The arguments that the return drops stand between; frames that need to know that are few.
    PathValue behind = rule->return_address;
    behind.kind = PathValue::Kind::kRegister;
    behind.offset += 8;
    caller_stack = evaluate(behind, registers, stack);
  }
  const std::uint64_t here = registers.value[LUMBRE_RSP];
  if (!caller_stack.has_value() || *caller_stack <= here || *caller_stack - here > kMaxFrameBytes) {
    return false;
  }
  lumbre_registers next{};
  for (unsigned number = 0; number < LUMBRE_REGISTER_COUNT; ++number) {
    set(next, number, evaluate(rule->registers[number], registers, stack));
  }
  set(next, LUMBRE_RIP, caller);
  set(next, LUMBRE_RSP, caller_stack);
  registers = next;
  return true;
}

bool JitStep::has_other_callers(const Place& place, std::uint64_t from, std::uint64_t to,
                                StackReader& stack) {
  for (std::uint64_t at = from; at < to; at += 8) {
    std::uint64_t word = 0;
    if (stack.read_word(at, word) && is_return_address(place, word)) {
      return true;
    }
  }
  return false;
}

// What kind of runtime makes the code: told by what the process has mapped.
JitStep::Runtime JitStep::runtime_of(const Place& place) {
  ModuleId last = kNoModule;
  for (const auto& [start, mapping] : place.process.mappings) {
    if (mapping.module == kNoModule || mapping.module == last) {
      continue;
    }
    last = mapping.module;
    if (const Runtime runtime = runtime_in(mapping.module); runtime != Runtime::kOther) {
      return runtime;
    }
  }
  return Runtime::kOther;
}

JitStep::Runtime JitStep::runtime_in(ModuleId id) {
  const auto [at, is_new] = runtimes_.try_emplace(id, Runtime::kOther);
  const Module& module = processes_.module_at(id);
  if (is_new && module.elf != nullptr) {
    // v8::Script::Run(v8::Local<v8::Context>), which whoever embeds V8 calls.
    if (find_symbol_by_name(*module.elf, "_ZN2v86Script3RunENS_5LocalINS_7ContextEEE")
            .has_value()) {
      at->second = Runtime::kV8;
    } else if (find_symbol_by_name(*module.elf, "JVM_MonitorWait").has_value()) {
      at->second = Runtime::kHotSpot;
    }
  }
  return at->second;
}

JitStep::Outcome JitStep::step_by_frame_pointer(const Place& place, lumbre_registers& registers,
                                                StackReader& stack) {
  const std::uint64_t rsp = registers.value[LUMBRE_RSP], rbp = registers.value[LUMBRE_RBP];
  std::uint64_t saved = 0, caller = 0;
  if (!is_known(registers, LUMBRE_RBP) || rbp % 8 != 0 || rbp < rsp || rbp - rsp > kMaxFrameBytes ||
      !stack.read_word(rbp, saved) || !stack.read_word(rbp + 8, caller) ||
      !is_return_address(place, caller)) {
    return Outcome::kNone;
  }
  if (saved <= rbp || saved - rbp > kMaxFrameBytes || saved % 8 != 0) {
    return Outcome::kNone;
  }
  const bool is_proven =
      runtime_of(place) == Runtime::kV8 ||
      (rbp - rsp <= kScanBytes && !has_other_callers(place, (rsp + 7) & ~7ULL, rbp, stack));
  lumbre_registers next{};
  set(next, LUMBRE_RIP, caller);
  set(next, LUMBRE_RSP, rbp + 16);
  set(next, LUMBRE_RBP, saved);
  registers = next;
  return is_proven ? Outcome::kProven : Outcome::kGuess;
}

// Below rbp: where the caller's stack was before arguments were added to it for the interpreter.
bool JitStep::step_by_interpreter_frame(const Place& place, lumbre_registers& registers,
                                        StackReader& stack) {
  const std::uint64_t rsp = registers.value[LUMBRE_RSP], rbp = registers.value[LUMBRE_RBP];
  std::uint64_t saved = 0, caller = 0, caller_stack = 0;
  if (!is_known(registers, LUMBRE_RBP) || rbp % 8 != 0 || rbp < rsp || rbp - rsp > kMaxFrameBytes ||
      !stack.read_word(rbp, saved) || !stack.read_word(rbp + 8, caller) ||
      !stack.read_word(rbp - 8, caller_stack) || caller_stack < rbp + 16 ||
      caller_stack - rbp > kScanBytes || caller_stack % 8 != 0 ||
      !is_return_address(place, caller)) {
    return false;
  }
  lumbre_registers next{};
  set(next, LUMBRE_RIP, caller);
  set(next, LUMBRE_RSP, caller_stack);
  set(next, LUMBRE_RBP, saved);  // of compiled code it may be anything
  registers = next;
  return true;
}

JitStep::Outcome JitStep::step(const Place& place, lumbre_registers& registers,
                               StackReader& stack) {
  if (!is_known(registers, LUMBRE_RSP)) {
    return Outcome::kNone;
  }
  if (step_by_path(place, registers, stack)) {
    return Outcome::kProven;
  }
  Code& code = code_of(place);
  if (place.time_ns > code.read_since_ns + kRetryAfterNs) {
    code.forget(place.time_ns);
    if (step_by_path(place, registers, stack)) {
      return Outcome::kProven;
    }
  }
  if (runtime_of(place) == Runtime::kHotSpot) {
    return step_by_interpreter_frame(place, registers, stack) ? Outcome::kProven : Outcome::kNone;
  }
  return step_by_frame_pointer(place, registers, stack);
}

std::vector<lumbre_registers> JitStep::possible_callers(const Place& place,
                                                        const lumbre_registers& registers,
                                                        StackReader& stack) {
  std::vector<lumbre_registers> callers;
  const std::uint64_t from = (registers.value[LUMBRE_RSP] + 7) & ~7ULL;
  for (std::uint64_t at = from; at - from < kScanBytes && callers.size() < kMaxCallers; at += 8) {
    std::uint64_t word = 0;
    if (!stack.read_word(at, word)) {
      break;
    }
    const ProcessMapping* mapping = place.process.find({word - 1});
    if (mapping == nullptr || mapping->module == kNoModule || word < kCallBytes) {
      continue;
    }
    std::array<std::byte, kCallBytes> bytes{};
    const std::size_t count = code_of(place).read(word - bytes.size(), bytes);
    // A file cannot call what is made at run time by its address.
    if (count != bytes.size() || call_before(bytes) != CallKind::kIndirect) {
      continue;
    }
    lumbre_registers caller{};
    set(caller, LUMBRE_RIP, word);
    set(caller, LUMBRE_RSP, at + 8);
    // Most functions that save rbp save it first.
    std::uint64_t rbp = 0;
    if ((stack.read_word(at - 8, rbp) && rbp > at && rbp - at < kMaxFrameBytes) ||
        (is_known(registers, LUMBRE_RBP) && (rbp = registers.value[LUMBRE_RBP]) > at &&
         rbp - at < kMaxFrameBytes)) {
      set(caller, LUMBRE_RBP, rbp);
    }
    callers.push_back(caller);
  }
  return callers;
}

}  // namespace lumbre
