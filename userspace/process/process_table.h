// ProcessTable: the executable mappings of every process in the recording, as they change.
//
// Fed from /proc at the start and from the sideband afterwards, in time order. Keyed by the pid
// that Lumbre itself sees. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/procfs/maps.h"
#include "userspace/kernel/sideband.h"
#include "userspace/process/module_cache.h"

namespace lumbre {

enum class MappingKind { kFile, kVdso, kAnonymous };

struct ProcessMapping {
  ProcessAddress start, end;
  FileOffset offset;
  MappingKind kind = MappingKind::kAnonymous;
  ModuleId module = kNoModule;
};

struct Process {
  std::uint32_t pid = 0;
  std::map<std::uint64_t, ProcessMapping> mappings;  // executable ones, by start; disjoint
  ModuleId python_module = kNoModule;
  std::uint64_t python_bias = 0;  // process address less image address of that module
  std::uint64_t next_reread_ns = 0;
  std::uint64_t mappings_number = 0;  // another one after every change of the mappings

  const ProcessMapping* find(ProcessAddress address) const;
};

class ProcessTable {
 public:
  explicit ProcessTable(ModuleCache& modules) : modules_(modules) {}

  // Called when a process is found to contain a CPython (`module`, at `bias`).
  using PythonCallback =
      std::function<void(const Process&, const PythonRuntime&, std::uint64_t bias)>;
  void on_python(PythonCallback callback) { on_python_ = std::move(callback); }

  // Reads /proc/PID/maps; false if the process is gone.
  bool load(std::uint32_t pid);
  // Whole machine: every process. Otherwise only known ones and their descendants are followed.
  void follow_all(bool all) { follows_all_ = all; }
  void apply(const SidebandEvent& event);

  Process* find(std::uint32_t pid);
  // Takes out a process whose samples have all been handled.
  void remove(std::uint32_t pid) { processes_.erase(pid); }
  // Looks at a live process again after an address was found in no mapping (an event was lost, or
  // mprotect(2) made code of data, which no event tells); at most once in 100 ms per process.
  void reread(Process& process, std::uint64_t now_ns);
  // As the process sees it; "" for a mapping without a file.
  std::string path_of(const ProcessMapping& mapping) const {
    return mapping.module == kNoModule ? "" : modules_.at(mapping.module).path;
  }
  const Module& module_at(ModuleId module) const { return modules_.at(module); }
  std::uint64_t lost_events() const { return lost_events_; }
  std::size_t size() const { return processes_.size(); }
  ModuleCache& modules() { return modules_; }

  // The image address that a process address stands for, with its module; none outside files.
  struct Place {
    Module* module = nullptr;
    ImageAddress address;
    std::uint64_t bias = 0;
  };
  std::optional<Place> locate(const ProcessMapping& mapping, ProcessAddress address);

 private:
  void add_mapping(Process& process, const ProcessMapping& mapping);
  void add_file(Process& process, const MappedFileKey& key, const MappedRange& range,
                FileOffset offset);
  void note_python(Process& process, Module& module, const ProcessMapping& mapping);
  void apply_mapping(const MappingAdded& added);
  void apply_fork(const ProcessForked& forked);

  ModuleCache& modules_;
  std::unordered_map<std::uint32_t, Process> processes_;
  PythonCallback on_python_;
  bool follows_all_ = false;
  std::uint64_t lost_events_ = 0;
  std::uint64_t last_mappings_number_ = 0;
};

// The pids given and all their present descendants (field 4 of /proc/PID/stat).
std::vector<std::uint32_t> find_process_tree(const std::vector<std::uint32_t>& roots);
std::vector<std::uint32_t> list_processes();
// False for a process that is gone or waits to be reaped with all its threads.
bool has_running_thread(std::uint32_t pid);

}  // namespace lumbre
