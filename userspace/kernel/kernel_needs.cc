#include "userspace/kernel/kernel_needs.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>

namespace lumbre {
namespace {

struct Helper {
  bpf_func_id id;
  NeedKind kind;
  const char* sentence;
  const char* since;
};

constexpr Helper kHelpers[] = {
    {BPF_FUNC_ringbuf_reserve, NeedKind::kRequired, "BPF ring buffer", "Linux 5.8"},
    {BPF_FUNC_get_current_task_btf, NeedKind::kUsualSet, "typed pointers to tasks in BPF",
     "Linux 5.11"},
    {BPF_FUNC_task_pt_regs, NeedKind::kUsualSet, "user registers of a task in the kernel",
     "Linux 5.15"},
    {BPF_FUNC_loop, NeedKind::kUsualSet, "bounded loops in BPF (bpf_loop)", "Linux 5.17"},
};

}  // namespace

std::vector<KernelNeed> probe_kernel_needs() {
  std::vector<KernelNeed> needs;
  for (const Helper& helper : kHelpers) {
    const int found = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper.id, nullptr);
    needs.push_back({helper.sentence, helper.since, helper.kind, found == 1});
  }
  return needs;
}

std::string missing_kernel_needs(NeedKind kind) {
  std::string text;
  std::string since;
  for (const KernelNeed& need : probe_kernel_needs()) {
    if (!need.is_present && need.kind == kind) {
      text += (text.empty() ? "this kernel lacks: " : ", ") + need.sentence;
      since = need.since;
    }
  }
  if (text.empty() || kind != NeedKind::kRequired) {
    return text;
  }
  return text + "; use " + since + " or newer";
}

}  // namespace lumbre
