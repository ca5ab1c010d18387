// JitCodes: the names of code made at run time, from the perf map and the jitdump of each process.
//
// The name of an address is looked up when its sample is handled, so that a later function at the
// same address does not take its place; what has no name then may still get one when the recording
// is written (some runtimes write their map at their end). A forked child knows its parent's
// functions. A map that an earlier process of the same PID left behind is refused. One thread; an
// fstat per process and 10 ms while such code is sampled.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "symbolizer/jit/functions.h"
#include "symbolizer/jit/jitdump.h"
#include "symbolizer/jit/perf_map.h"
#include "symbolizer/jit/target_file.h"
#include "userspace/aggregate/frame.h"
#include "userspace/process/process_table.h"

namespace lumbre {

struct JitName {
  std::string whole;     // as written
  std::string function;  // without the place that some runtimes write behind it
  std::string file;
  std::uint32_t start_line = 0;
  bool is_python_trampoline = false;  // of CPython's -X perf: stands for a Python frame
  auto operator<=>(const JitName&) const = default;
};
JitName parse_jit_name(const std::string& whole, const std::string& file = "");

class JitCodes {
 public:
  static constexpr std::size_t kMaxUnnamed = 200'000;

  explicit JitCodes(ProcessTable& processes) : processes_(processes) {}
  ~JitCodes();

  // kJit (owner: index of its name, address: line), or kNoFile (owner: for name_of()).
  Frame frame(std::uint32_t pid, std::uint64_t address, std::uint64_t time_ns);
  // Before names are asked for: what has been written since.
  void look_again();
  // Of either kind of frame; null where no name is known (yet).
  const JitName* name_of(const Frame& frame);

  void note_fork(std::uint32_t parent, std::uint32_t child, std::uint64_t time_ns);
  // The process has ended or runs another program now.
  void forget_process(std::uint32_t pid);

 private:
  struct State;
  struct Unnamed {
    std::shared_ptr<State> state;
    std::uint64_t address = 0, time_ns = 0;
  };

  std::shared_ptr<State> state_of(std::uint32_t pid);
  std::uint32_t intern(JitName name);
  Frame named_frame(const JitFunction& function, std::uint64_t address);
  Frame unnamed_frame(const std::shared_ptr<State>& state, std::uint64_t address,
                      std::uint64_t time_ns);
  void look(State& state, bool is_last);
  void look_for_map(State& state);
  void look_for_dump(State& state);
  void look_for_objects(State& state);
  bool is_of_this_process(const State& state, const TargetFile& map);

  ProcessTable& processes_;
  std::unordered_map<std::uint32_t, std::shared_ptr<State>> states_;
  std::deque<JitName> names_;  // name_of() gives pointers into it
  std::map<JitName, std::uint32_t> name_ids_;
  std::map<std::pair<const JitFunction*, const JitLine*>, Frame> named_;
  std::vector<Unnamed> unnamed_;
  std::map<std::pair<const State*, std::uint64_t>, std::uint32_t> unnamed_ids_;
  // Image address of each module's __jit_debug_descriptor, 0 where it has none.
  std::unordered_map<ModuleId, std::uint64_t> descriptors_;
};

}  // namespace lumbre
