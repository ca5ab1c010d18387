#include "userspace/process/process_table.h"

#include <iterator>
#include <variant>

namespace lumbre {
namespace {

constexpr std::uint64_t kRereadIntervalNs = 100'000'000;

// Names in brackets or with "//" are no files: [stack], [heap], //anon, anon_inode:...
bool is_file_path(const std::string& path) {
  return path.size() > 1 && path[0] == '/' && path[1] != '/';
}

}  // namespace

const ProcessMapping* Process::find(ProcessAddress address) const {
  auto after = mappings.upper_bound(address.value);
  if (after == mappings.begin()) {
    return nullptr;
  }
  const ProcessMapping& candidate = std::prev(after)->second;
  return address < candidate.end ? &candidate : nullptr;
}

Process* ProcessTable::find(std::uint32_t pid) {
  const auto found = processes_.find(pid);
  return found == processes_.end() ? nullptr : &found->second;
}

// New mappings replace what they overlap, as mmap(2) with MAP_FIXED does.
void ProcessTable::add_mapping(Process& process, const ProcessMapping& mapping) {
  process.mappings_number = ++last_mappings_number_;
  auto& all = process.mappings;
  auto at = all.upper_bound(mapping.start.value);
  if (at != all.begin()) {
    auto before = std::prev(at);
    const ProcessMapping old = before->second;
    if (old.end > mapping.start) {
      before->second.end = mapping.start;
      if (before->second.start == before->second.end) {
        all.erase(before);
      }
      if (old.end > mapping.end) {
        ProcessMapping rest = old;
        rest.offset.value += mapping.end.value - old.start.value;
        rest.start = mapping.end;
        all[rest.start.value] = rest;
      }
    }
  }
  for (at = all.lower_bound(mapping.start.value);
       at != all.end() && at->second.start < mapping.end;) {
    ProcessMapping rest = at->second;
    at = all.erase(at);
    if (rest.end > mapping.end) {
      rest.offset.value += mapping.end.value - rest.start.value;
      rest.start = mapping.end;
      at = all.emplace(rest.start.value, rest).first;
      break;
    }
  }
  all[mapping.start.value] = mapping;
}

void ProcessTable::add_file(Process& process, const MappedFileKey& key, const MappedRange& range,
                            FileOffset offset) {
  ProcessMapping mapping{range.start, range.end, offset, MappingKind::kAnonymous, kNoModule};
  Module* module = nullptr;
  if (range.path == "[vdso]") {
    module = &modules_.vdso();
    mapping.kind = MappingKind::kVdso;
  } else if (is_file_path(range.path) && key.inode != 0) {
    module = &modules_.find(key, range);
    mapping.kind = MappingKind::kFile;
  }
  if (module != nullptr) {
    mapping.module = module->id;
  }
  add_mapping(process, mapping);
  if (module != nullptr && module->python.has_value()) {
    note_python(process, *module, mapping);
  }
}

void ProcessTable::note_python(Process& process, Module& module, const ProcessMapping& mapping) {
  const std::optional<Place> place = locate(mapping, mapping.start);
  if (!place.has_value() || process.python_module != kNoModule) {
    return;
  }
  process.python_module = module.id;
  process.python_bias = place->bias;
  if (on_python_) {
    on_python_(process, *module.python, place->bias);
  }
}

std::optional<ProcessTable::Place> ProcessTable::locate(const ProcessMapping& mapping,
                                                        ProcessAddress address) {
  if (mapping.module == kNoModule) {
    return std::nullopt;
  }
  Module& module = modules_.at(mapping.module);
  if (module.elf == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t distance = address.value - mapping.start.value;
  const std::optional<ImageAddress> image =
      module.elf->to_image_address({mapping.offset.value + distance});
  if (!image.has_value()) {
    return std::nullopt;
  }
  return Place{&module, *image, address.value - image->value};
}

bool ProcessTable::load(std::uint32_t pid) {
  const Result<std::vector<MapsEntry>> entries = read_maps(static_cast<int>(pid));
  if (!entries.has_value()) {
    return false;
  }
  Process& process = processes_[pid];
  process.pid = pid;
  for (const MapsEntry& entry : *entries) {
    if (entry.is_executable) {
      add_file(process, {entry.device_major, entry.device_minor, entry.inode},
               {pid, entry.start, entry.end, entry.path}, entry.offset);
    }
  }
  return true;
}

void ProcessTable::reread(Process& process, std::uint64_t now_ns) {
  if (now_ns < process.next_reread_ns) {
    return;
  }
  process.next_reread_ns = now_ns + kRereadIntervalNs;
  load(process.pid);
}

void ProcessTable::apply_mapping(const MappingAdded& added) {
  if (!follows_all_ && !processes_.contains(added.pid)) {
    return;
  }
  Process& process = processes_[added.pid];
  process.pid = added.pid;
  const ProcessAddress end{added.start.value + added.size_bytes};
  add_file(process, {added.device_major, added.device_minor, added.inode},
           {added.pid, added.start, end, added.path}, added.offset);
}

void ProcessTable::apply_fork(const ProcessForked& forked) {
  if (Process* parent = find(forked.parent_pid); parent != nullptr) {
    Process child = *parent;
    child.pid = forked.pid;
    processes_.insert_or_assign(forked.pid, std::move(child));
  } else if (follows_all_) {
    load(forked.pid);
  }
}

void ProcessTable::apply(const SidebandEvent& event) {
  if (const auto* added = std::get_if<MappingAdded>(&event.what)) {
    apply_mapping(*added);
  } else if (const auto* forked = std::get_if<ProcessForked>(&event.what)) {
    apply_fork(*forked);
  } else if (const auto* executed = std::get_if<ProcessExecuted>(&event.what)) {
    if (Process* process = find(executed->pid); process != nullptr) {
      *process = Process{};
      process->pid = executed->pid;
    }
  } else if (const auto* lost = std::get_if<SidebandLost>(&event.what)) {
    lost_events_ += lost->count;
    for (auto& [pid, process] : processes_) {
      load(pid);
    }
  }
}

}  // namespace lumbre
