#include "userspace/kernel/bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <numeric>

#include "lumbre_bpf.skel.h"
#include "symbolizer/base/unique_fd.h"
#include "userspace/kernel/bpf_programs.h"
#include "userspace/kernel/kernel_needs.h"

namespace lumbre {
namespace {

constexpr std::size_t kMaxMessageBytes = 1 << 20;

std::string& libbpf_messages() {
  static std::string text;
  return text;
}

// libbpf explains failures only through this callback; the verifier's log is one long message.
int keep_message(libbpf_print_level level, const char* format, va_list arguments) {
  std::string& text = libbpf_messages();
  if (level != LIBBPF_WARN || text.size() > kMaxMessageBytes) {
    return 0;
  }
  va_list again;
  va_copy(again, arguments);
  const int length = ::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length > 0) {
    std::string message(static_cast<std::size_t>(length) + 1, '\0');
    ::vsnprintf(message.data(), message.size(), format, arguments);
    message.pop_back();
    text += message;
  }
  return length;
}

// The verifier's complaint is the line before its account of its own effort; where there is none,
// libbpf's first line has to do.
std::string explanation(const std::string& messages) {
  const std::size_t effort = messages.find("\nprocessed ");
  if (effort == std::string::npos || effort == 0) {
    return messages.substr(0, messages.find('\n'));
  }
  const std::size_t before = messages.rfind('\n', effort - 1);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return "the verifier says: " + messages.substr(start, effort - start);
}

Error load_error(int failure) {
  const std::string why = explanation(libbpf_messages());
  Error error = Error::system(-failure, "cannot load the kernel programs");
  // The kernel says EACCES where the verifier refuses a program, EPERM where a right is missing.
  if (failure == -EPERM) {
    error.message +=
        "; run as root or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE (see lumbre doctor)";
    return error;
  }
  if (const std::string missing = missing_kernel_needs(NeedKind::kRequired); !missing.empty()) {
    error.kind = ErrorKind::kPermission;
    error.message = "cannot load the kernel programs: " + missing + " (see lumbre doctor)";
    return error;
  }
  error.kind = ErrorKind::kUnsupported;
  if (!why.empty()) {
    error.message += " (" + why + ")";
  }
  error.message += "; please report this with the output of uname -r";
  return error;
}

bpf_prog_info program_info(const bpf_program* program) {
  bpf_prog_info info = {};
  std::uint32_t size = sizeof(info);
  ::bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
  return info;
}

void leave_out_waits(lumbre_bpf& skeleton) {
  for (bpf_program* program : {skeleton.progs.lumbre_switch, skeleton.progs.lumbre_waking,
                               skeleton.progs.lumbre_thread_begins, skeleton.progs.lumbre_look}) {
    bpf_program__set_autoload(program, false);
  }
  bpf_map__set_autocreate(skeleton.maps.threads, false);
}

// The values of one key of a per-CPU array of 64-bit numbers, added up.
std::uint64_t sum_over_cpus(const bpf_map* map, std::uint32_t key) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(libbpf_num_possible_cpus()));
  if (bpf_map__lookup_elem(map, &key, sizeof(key), values.data(),
                           values.size() * sizeof(std::uint64_t), 0) != 0) {
    return 0;
  }
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

}  // namespace

// 0, or what the kernel says.
int BpfObject::try_set(ProgramSet set, const BpfSettings& settings) {
  libbpf_messages().clear();
  skeleton_ = open_programs(set);
  if (skeleton_ == nullptr) {
    return -errno;
  }
  skeleton_->rodata->config = settings.config;
  bpf_map__set_max_entries(skeleton_->maps.events, settings.ring_bytes);
  if (set == ProgramSet::kClassic || !settings.events.contains(LUMBRE_EVENT_OFFCPU)) {
    leave_out_waits(*skeleton_);
  }
  const int failure = lumbre_bpf__load(skeleton_);
  if (failure != 0) {
    lumbre_bpf__destroy(skeleton_);
    skeleton_ = nullptr;
  }
  return failure;
}

Result<void> BpfObject::load_programs(const BpfSettings& settings) {
  if (is_classic_forced()) {
    classic_reason_ = "LUMBRE_KERNEL_PROGRAMS asks for them";
  } else {
    const int failure = try_set(ProgramSet::kUsual, settings);
    if (failure == 0) {
      return {};
    }
    if (failure == -EPERM) {
      return load_error(failure);
    }
    classic_reason_ = missing_kernel_needs(NeedKind::kUsualSet);
    if (classic_reason_.empty()) {
      classic_reason_ = "this kernel refuses the usual ones: " + explanation(libbpf_messages());
    }
  }
  if (settings.events != std::set<std::uint32_t>{LUMBRE_EVENT_CPU}) {
    return Error{
        ErrorKind::kPermission, 0,
        "only the event cpu can be recorded here: " + classic_reason_ + " (see lumbre doctor)"};
  }
  const int failure = try_set(ProgramSet::kClassic, settings);
  return failure == 0 ? Result<void>{} : load_error(failure);
}

Result<std::unique_ptr<BpfObject>> BpfObject::load(const BpfSettings& settings) {
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  libbpf_set_print(keep_message);
  std::unique_ptr<BpfObject> object(new BpfObject);
  LUMBRE_TRY(object->load_programs(settings));
  LUMBRE_TRY_ASSIGN(object->ring_,
                    RingDrain::start(bpf_map__fd(object->skeleton_->maps.events)));
  const auto& maps = object->skeleton_->maps;
  LUMBRE_TRY_ASSIGN(object->unwind_tables_,
                    BpfUnwindTables::map({bpf_map__fd(maps.unwind_rules),
                                          bpf_map__fd(maps.unwind_rows),
                                          bpf_map__fd(maps.code_ranges),
                                          bpf_map__fd(maps.unwind_pages),
                                          bpf_map__fd(maps.native_processes)}));
  // Run-time statistics cost a few nanoseconds per run and end with this descriptor.
  object->statistics_fd_ = ::bpf_enable_stats(BPF_STATS_RUN_TIME);
  return object;
}

BpfObject::~BpfObject() {
  ring_ = nullptr;
  lumbre_bpf__destroy(skeleton_);
  UniqueFd statistics(statistics_fd_);
}

// The link is kept by the skeleton: destroying it detaches the program.
Result<void> BpfObject::attach(bpf_program* program, bpf_link*& link) {
  link = bpf_program__attach(program);
  if (link == nullptr) {
    return Error::system(errno, std::string("cannot attach ") + bpf_program__name(program));
  }
  return {};
}

Result<void> BpfObject::attach_lifecycle() {
  auto& programs = skeleton_->progs;
  auto& links = skeleton_->links;
  LUMBRE_TRY(attach(programs.lumbre_process_fork, links.lumbre_process_fork));
  LUMBRE_TRY(attach(programs.lumbre_process_exec, links.lumbre_process_exec));
  return attach(programs.lumbre_process_exit, links.lumbre_process_exit);
}

Result<void> BpfObject::attach_waits() {
  auto& programs = skeleton_->progs;
  auto& links = skeleton_->links;
  LUMBRE_TRY(attach(programs.lumbre_thread_begins, links.lumbre_thread_begins));
  LUMBRE_TRY(attach(programs.lumbre_waking, links.lumbre_waking));
  LUMBRE_TRY(attach(programs.lumbre_switch, links.lumbre_switch));
  LUMBRE_TRY(attach(programs.lumbre_look, links.lumbre_look));
  waits_.emplace(BpfWaits::Handles{bpf_map__fd(skeleton_->maps.wait_settings),
                                   bpf_link__fd(links.lumbre_look)});
  return {};
}

void BpfObject::detach_waits() {
  auto& links = skeleton_->links;
  for (bpf_link** link : {&links.lumbre_switch, &links.lumbre_waking, &links.lumbre_thread_begins}) {
    bpf_link__destroy(*link);
    *link = nullptr;
  }
}

int BpfObject::cpu_program_fd() const {
  return bpf_program__fd(skeleton_->progs.lumbre_cpu_sample);
}

Result<void> BpfObject::add_target(std::uint32_t visible_pid) {
  const std::uint32_t one = 1;
  if (bpf_map__update_elem(skeleton_->maps.targets, &visible_pid, sizeof(visible_pid), &one,
                           sizeof(one), BPF_ANY) != 0) {
    return Error::system(errno, "cannot follow process " + std::to_string(visible_pid));
  }
  return {};
}

Result<void> BpfObject::set_python(std::uint32_t visible_pid,
                                   const lumbre_python_process& process) {
  if (bpf_map__update_elem(skeleton_->maps.python_processes, &visible_pid, sizeof(visible_pid),
                           &process, sizeof(process), BPF_ANY) != 0) {
    return Error::system(errno,
                         "cannot follow the Python of process " + std::to_string(visible_pid));
  }
  return {};
}

void BpfObject::forget_python(std::uint32_t visible_pid) {
  bpf_map__delete_elem(skeleton_->maps.python_processes, &visible_pid, sizeof(visible_pid), 0);
}

std::optional<lumbre_python_process> BpfObject::find_python(std::uint32_t visible_pid) const {
  lumbre_python_process process = {};
  if (bpf_map__lookup_elem(skeleton_->maps.python_processes, &visible_pid, sizeof(visible_pid),
                           &process, sizeof(process), 0) != 0) {
    return std::nullopt;
  }
  return process;
}

CounterValues BpfObject::read_counters() const {
  CounterValues sums{};
  for (std::uint32_t counter = 0; counter < LUMBRE_COUNTER_COUNT; ++counter) {
    sums[counter] = sum_over_cpus(skeleton_->maps.counters, counter);
  }
  return sums;
}

EventCounterValues BpfObject::read_event_counters() const {
  EventCounterValues sums{};
  for (std::uint32_t event = 0; event < LUMBRE_EVENT_COUNT; ++event) {
    for (std::uint32_t counter = 0; counter < LUMBRE_EVENT_COUNTER_COUNT; ++counter) {
      sums[event][counter] = sum_over_cpus(skeleton_->maps.event_counters,
                                           event * LUMBRE_EVENT_COUNTER_COUNT + counter);
    }
  }
  return sums;
}

ProgramCost BpfObject::read_cost() const {
  ProgramCost cost;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton_->obj) {
    const bpf_prog_info info = program_info(program);
    cost.run_time_ns += info.run_time_ns;
    cost.run_count += info.run_cnt;
  }
  return cost;
}

std::uint64_t BpfObject::kernel_memory_bytes() const {
  std::uint64_t total = 0;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, skeleton_->obj) {
    std::ifstream info("/proc/self/fdinfo/" + std::to_string(bpf_map__fd(map)));
    for (std::string key; info >> key;) {
      if (key == "memlock:") {
        std::uint64_t bytes = 0;
        info >> bytes;
        total += bytes;
      }
    }
  }
  return total;
}

}  // namespace lumbre
