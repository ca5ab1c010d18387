#include "userspace/process/jit_codes.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>

#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/jit/gdb_jit.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kLookIntervalNs = 10'000'000;
constexpr std::uint64_t kOpenIntervalNs = 100'000'000;
// Between the clocks that a process's start and a file's times are told in.
constexpr std::uint64_t kClockSlackNs = 50'000'000;
constexpr std::size_t kMaxReadPerLook = std::size_t{32} << 20;
constexpr std::size_t kReadBytes = std::size_t{2} << 20;
constexpr std::uint64_t kMaxMapBytes = std::uint64_t{512} << 20;
constexpr std::uint64_t kMaxDumpBytes = std::uint64_t{64} << 30;  // its code is not read
constexpr std::size_t kMaxGenerations = 8;
constexpr std::uint32_t kNoOwner = std::numeric_limits<std::uint32_t>::max();

std::uint64_t clock_ns(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000ULL +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool is_dump_name(const std::string& path, std::uint32_t pid) {
  return path.substr(path.rfind('/') + 1) == "jit-" + std::to_string(pid) + ".dump";
}

std::string map_files_link(std::uint32_t pid, const ProcessMapping& mapping) {
  char text[96];
  std::snprintf(text, sizeof(text), "/proc/%u/map_files/%llx-%llx", pid,
                static_cast<unsigned long long>(mapping.start.value),
                static_cast<unsigned long long>(mapping.end.value));
  return text;
}

std::optional<std::uint32_t> take_last_number(std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || rest != end) {
    return std::nullopt;
  }
  text.resize(colon);
  return number;
}

// V8 writes "JS:*name /path/file.js:line:column".
void split_javascript(JitName& name) {
  std::string text = name.whole;
  const auto last = take_last_number(text);
  const auto before = last.has_value() ? take_last_number(text) : std::nullopt;
  const std::size_t space = text.rfind(' ');
  if (!last.has_value() || space == std::string::npos) {
    return;
  }
  name.function = text.substr(0, space);
  name.file = text.substr(space + 1);
  name.start_line = before.value_or(*last);
  if (name.function.size() <= 4) {  // "JS:" and the mark of the tier
    name.function += "(anonymous)";
  }
}

// CPython writes "py::name:/path/file.py".
void split_trampoline(JitName& name) {
  name.is_python_trampoline = true;
  const std::size_t colon = name.whole.find(':', 4);
  if (colon != std::string::npos) {
    name.function = name.whole.substr(4, colon - 4);
    name.file = name.whole.substr(colon + 1);
  }
}

}  // namespace

JitName parse_jit_name(const std::string& whole, const std::string& file) {
  JitName name;
  name.whole = name.function = whole;
  name.file = file;
  if (whole.starts_with("JS:")) {
    split_javascript(name);
  } else if (whole.starts_with("py::")) {
    split_trampoline(name);
  }
  return name;
}

struct JitCodes::State {
  TargetIdentity target;
  JitFunctions functions;
  std::optional<TargetFile> map, dump;
  PerfMapParser map_parser;
  std::uint64_t map_offset = 0, map_read_ns = 0;
  std::unique_ptr<JitdumpParser> dump_parser;
  std::optional<GdbJit> objects;
  std::uint64_t objects_read_ns = 0;
  std::uint64_t next_look_ns = 0, next_open_ns = 0;
  std::shared_ptr<State> parent;
  std::uint64_t fork_ns = 0;

  void read_map(std::uint64_t now_ns);
  void read_dump(std::uint64_t now_ns);
  const JitFunction* find(std::uint64_t address, std::uint64_t time_ns) const;
};

JitCodes::~JitCodes() = default;

void JitCodes::State::read_map(std::uint64_t now_ns) {
  const std::uint64_t size = std::min(map->size_bytes(), kMaxMapBytes);
  if (size < map_offset) {  // written anew
    map_offset = 0;
    map_parser = PerfMapParser();
  }
  std::string text;
  for (std::size_t done = 0; map_offset < size && done < kMaxReadPerLook;) {
    text.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, size - map_offset)));
    const std::size_t count =
        map->read_at(map_offset, std::as_writable_bytes(std::span(text.data(), text.size())));
    if (count == 0) {
      break;
    }
    map_parser.feed(
        std::string_view(text).substr(0, count), [&](const PerfMapParser::Entry& entry) {
          JitFunction function;
          function.start = entry.start;
          function.size_bytes = entry.size_bytes;
          function.name = entry.name;
          // The map has no times: what takes another's place did so after the map was last read.
          function.from_ns = functions.is_taken(entry.start, entry.size_bytes) ? map_read_ns : 0;
          functions.add(std::move(function));
        });
    map_offset += count;
    done += count;
  }
  map_read_ns = now_ns;
}

void JitCodes::State::read_dump(std::uint64_t now_ns) {
  const std::uint64_t size = std::min(dump->size_bytes(), kMaxDumpBytes);
  std::vector<std::byte> bytes;
  for (std::size_t done = 0; dump_parser->wanted_offset() < size && done < kMaxReadPerLook;) {
    const std::uint64_t at = dump_parser->wanted_offset();
    bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kReadBytes, size - at)));
    const std::size_t count = dump->read_at(at, bytes);
    if (count == 0 || !dump_parser->feed(std::span(bytes).first(count), now_ns)) {
      break;
    }
    done += count;
  }
}

const JitFunction* JitCodes::State::find(std::uint64_t address, std::uint64_t time_ns) const {
  const State* state = this;
  for (std::size_t generation = 0; state != nullptr && generation < kMaxGenerations; ++generation) {
    if (const JitFunction* function = state->functions.find({address}, time_ns)) {
      return function;
    }
    time_ns = std::min(time_ns, state->fork_ns);
    state = state->parent.get();
  }
  return nullptr;
}

// An old map of the same PID was last written before this process began. One that was begun before
// it and goes on may have been truncated first, or appended to: then its first functions lie where
// this process has code, or they do not.
bool JitCodes::is_of_this_process(const State& state, const TargetFile& map) {
  const std::uint64_t boot_to_real_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
  const std::uint64_t start_ns = state.target.start_boot_ns + boot_to_real_ns - kClockSlackNs;
  if (map.change_ns() < start_ns) {
    return false;
  }
  if (map.birth_ns() >= start_ns) {
    return true;
  }
  const Process* process = processes_.find(state.target.pid);
  std::string text(4096, '\0');
  text.resize(map.read_at(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  std::size_t inside = 0, outside = 0;
  PerfMapParser().feed(text, [&](const PerfMapParser::Entry& entry) {
    const bool is_code = process != nullptr && process->find(entry.start) != nullptr;
    (is_code ? inside : outside) += 1;
  });
  return outside == 0 && inside != 0;
}

void JitCodes::look_for_map(State& state) {
  auto map =
      TargetFile::open(state.target, "tmp/perf-" + std::to_string(state.target.inner_pid) + ".map");
  if (map.has_value() && is_of_this_process(state, *map)) {
    state.map = std::move(map).value();
  }
}

// The process maps a page of its jitdump as code, to say where it is.
void JitCodes::look_for_dump(State& state) {
  const Process* process = processes_.find(state.target.pid);
  if (process == nullptr) {
    return;
  }
  for (const auto& [start, mapping] : process->mappings) {
    if (mapping.kind != MappingKind::kFile ||
        !is_dump_name(processes_.path_of(mapping), state.target.inner_pid)) {
      continue;
    }
    auto dump = TargetFile::open_mapped(state.target, map_files_link(state.target.pid, mapping));
    if (dump.has_value()) {
      state.dump = std::move(dump).value();
      state.dump_parser = std::make_unique<JitdumpParser>(state.functions);
    }
    return;
  }
}

// Of one module in the process at most: more than one with a JIT engine in it is rare.
void JitCodes::look_for_objects(State& state) {
  const Process* process = processes_.find(state.target.pid);
  if (process == nullptr) {
    return;
  }
  for (const auto& [start, mapping] : process->mappings) {
    if (mapping.module == kNoModule) {
      continue;
    }
    const auto place = processes_.locate(mapping, mapping.start);
    const auto [at, is_new] = descriptors_.try_emplace(mapping.module, 0);
    if (is_new && place.has_value()) {
      const auto symbol = find_symbol_by_name(*place->module->elf, "__jit_debug_descriptor");
      at->second = symbol.has_value() ? symbol->address.value : 0;
    }
    if (at->second != 0 && place.has_value()) {
      state.objects.emplace(ProcessAddress{at->second + place->bias});
      return;
    }
  }
}

void JitCodes::look(State& state, bool is_last) {
  const std::uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  if (now_ns < state.next_look_ns && !is_last) {
    return;
  }
  state.next_look_ns = now_ns + kLookIntervalNs;
  if (state.target.root.is_open() && (now_ns >= state.next_open_ns || is_last)) {
    state.next_open_ns = now_ns + kOpenIntervalNs;
    if (!state.map.has_value()) {
      look_for_map(state);
    }
    if (!state.dump.has_value()) {
      look_for_dump(state);
    }
    if (!state.objects.has_value()) {
      look_for_objects(state);
    }
  }
  if (state.map.has_value()) {
    state.read_map(now_ns);
  }
  if (state.dump.has_value()) {
    state.read_dump(now_ns);
  }
  if (state.objects.has_value()) {
    const LiveProcessMemory memory(static_cast<int>(state.target.pid));
    state.objects->read(memory, state.objects_read_ns, state.functions);
    state.objects_read_ns = now_ns;
  }
}

std::shared_ptr<JitCodes::State> JitCodes::state_of(std::uint32_t pid) {
  std::shared_ptr<State>& state = states_[pid];
  if (state == nullptr) {
    state = std::make_shared<State>();
  }
  if (state->target.pid == 0) {
    state->target.pid = pid;
    if (auto identity = read_target_identity(pid); identity.has_value()) {
      state->target = std::move(identity).value();
    }
  }
  return state;
}

void JitCodes::note_fork(std::uint32_t parent, std::uint32_t child, std::uint64_t time_ns) {
  const auto known = states_.find(parent);
  if (known == states_.end()) {
    states_.erase(child);
    return;
  }
  auto state = std::make_shared<State>();
  state->parent = known->second;
  state->fork_ns = time_ns;
  states_[child] = std::move(state);
}

void JitCodes::forget_process(std::uint32_t pid) {
  const auto known = states_.find(pid);
  if (known == states_.end()) {
    return;
  }
  if (known->second->target.pid != 0) {
    look(*known->second, true);
  }
  known->second->target.root.reset();  // what its file system is must not depend on Lumbre
  states_.erase(known);
}

std::uint32_t JitCodes::intern(JitName name) {
  const auto [at, is_new] =
      name_ids_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
  if (is_new) {
    names_.push_back(at->first);
  }
  return at->second;
}

Frame JitCodes::unnamed_frame(const std::shared_ptr<State>& state, std::uint64_t address,
                              std::uint64_t time_ns) {
  const auto known = unnamed_ids_.find({state.get(), address});
  if (known != unnamed_ids_.end()) {
    unnamed_[known->second].time_ns = time_ns;
    return {FrameKind::kNoFile, known->second, 0};
  }
  if (unnamed_.size() >= kMaxUnnamed) {
    return {FrameKind::kNoFile, kNoOwner, 0};
  }
  const auto index = static_cast<std::uint32_t>(unnamed_.size());
  unnamed_.push_back({state, address, time_ns});
  unnamed_ids_.emplace(std::pair(state.get(), address), index);
  return {FrameKind::kNoFile, index, 0};
}

Frame JitCodes::frame(std::uint32_t pid, std::uint64_t address, std::uint64_t time_ns) {
  const std::shared_ptr<State> state = state_of(pid);
  look(*state, false);
  const JitFunction* function = state->find(address, time_ns);
  if (function == nullptr) {
    return unnamed_frame(state, address, time_ns);
  }
  return named_frame(*function, address);
}

Frame JitCodes::named_frame(const JitFunction& function, std::uint64_t address) {
  const JitLine* line = function.line_at({address});
  const auto [at, is_new] = named_.try_emplace({&function, line});
  if (is_new) {
    const std::string file = line == nullptr ? "" : function.debug->files[line->file];
    at->second = {FrameKind::kJit, intern(parse_jit_name(function.name, file)),
                  line == nullptr ? 0 : line->line};
  }
  return at->second;
}

void JitCodes::look_again() {
  for (const auto& [pid, state] : states_) {
    if (state->target.pid != 0) {
      look(*state, true);
    }
  }
}

const JitName* JitCodes::name_of(const Frame& frame) {
  if (frame.kind == FrameKind::kJit) {
    return &names_[frame.owner];
  }
  if (frame.owner >= unnamed_.size()) {
    return nullptr;
  }
  const Unnamed& unnamed = unnamed_[frame.owner];
  const JitFunction* function = unnamed.state->find(unnamed.address, unnamed.time_ns);
  return function == nullptr ? nullptr : &names_[intern(parse_jit_name(function->name))];
}

}  // namespace lumbre
