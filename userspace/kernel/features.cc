#include "userspace/kernel/features.h"

#include <bpf/libbpf.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "symbolizer/kallsyms.h"
#include "userspace/kernel/bpf_object.h"
#include "userspace/kernel/kernel_needs.h"
#include "userspace/kernel/perf_event.h"

namespace lumbre {
namespace {

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

FeatureFinding probe_kernel() {
  utsname name = {};
  ::uname(&name);
  const bool is_known = std::string(name.machine) == "x86_64";
  return {"a processor that the unwinder knows (x86-64)",
          std::string("Linux ") + name.release + " on " + name.machine, "", is_known, true};
}

FeatureFinding probe_btf() {
  const bool is_present = ::access("/sys/kernel/btf/vmlinux", R_OK) == 0;
  return {"the kernel describes its own types (BTF, /sys/kernel/btf/vmlinux)", "",
          "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (all current distributions have it)",
          is_present, true};
}

FeatureFinding probe_programs() {
  FeatureFinding finding{"the kernel programs load", "", "", false, true};
  BpfSettings settings;
  settings.ring_bytes = 4096;
  const auto object = BpfObject::load(settings);
  finding.is_present = object.has_value();
  if (!object.has_value()) {
    finding.detail = object.error().message;
  } else if (const std::string& reason = (*object)->classic_reason(); !reason.empty()) {
    finding.detail = "those for older kernels, as " + reason + ". They record the event cpu alone, with whole stacks";
  }
  return finding;
}

FeatureFinding of_need(const KernelNeed& need) {
  const bool is_required = need.kind == NeedKind::kRequired;
  return {need.sentence,
          is_required || need.is_present ? "" : "the kernel programs for older kernels do without",
          "use " + need.since + " or newer", need.is_present, is_required};
}

FeatureFinding probe_sampling() {
  FeatureFinding finding{"CPU sampling by perf events", "",
                         "run as root or with CAP_PERFMON (kernel.perf_event_paranoid is " +
                             first_line("/proc/sys/kernel/perf_event_paranoid") + ")",
                         false, true};
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.disabled = 1;
  const auto event = PerfEvent::open(attributes, -1, 0);
  finding.is_present = event.has_value();
  finding.detail = event.has_value() ? "" : event.error().message;
  return finding;
}

FeatureFinding probe_cycles() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.disabled = 1;
  const bool is_present = PerfEvent::open(attributes, -1, 0).has_value();
  return {"hardware cycle counter", is_present ? "" : "samples come from the kernel's cpu-clock",
          "", is_present, false};
}

FeatureFinding probe_kernel_names() {
  const auto symbols = KernelSymbols::load();
  return {"names of kernel functions (/proc/kallsyms)",
          symbols.has_value() ? std::to_string(symbols->size()) + " symbols" : "",
          "sysctl kernel.kptr_restrict=0 (it is " + first_line("/proc/sys/kernel/kptr_restrict") +
              "), or run as root",
          symbols.has_value(), false};
}

FeatureFinding probe_map_files() {
  const bool is_present = ::access("/proc/self/map_files", R_OK | X_OK) == 0;
  return {"files behind mappings open even when deleted (/proc/PID/map_files)", "",
          "run as root, or with CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE", is_present, false};
}

}  // namespace

std::vector<FeatureFinding> probe_features() {
  libbpf_set_strict_mode(LIBBPF_STRICT_ALL);
  std::vector<FeatureFinding> findings = {probe_kernel(), probe_btf()};
  for (const KernelNeed& need : probe_kernel_needs()) {
    findings.push_back(of_need(need));
  }
  for (const auto& probe : {probe_programs, probe_sampling, probe_cycles, probe_kernel_names,
                            probe_map_files}) {
    findings.push_back(probe());
  }
  return findings;
}

}  // namespace lumbre
