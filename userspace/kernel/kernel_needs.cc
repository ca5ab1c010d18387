#include "userspace/kernel/kernel_needs.h"

#include <bpf/libbpf.h>
#include <linux/bpf.h>

namespace lumbre {
namespace {

struct Helper {
  bpf_func_id id;
  const char* sentence;
  const char* since;
};

constexpr Helper kHelpers[] = {  // the newest last: its remedy covers the others
    {BPF_FUNC_ringbuf_reserve, "BPF ring buffer", "Linux 5.8"},
    {BPF_FUNC_task_pt_regs, "user registers of a task in the kernel", "Linux 5.15"},
    {BPF_FUNC_loop, "bounded loops in BPF (bpf_loop)", "Linux 5.17"},
};

}  // namespace

std::vector<KernelNeed> probe_kernel_needs() {
  std::vector<KernelNeed> needs;
  for (const Helper& helper : kHelpers) {
    const int found = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper.id, nullptr);
    needs.push_back(
        {helper.sentence, std::string("use ") + helper.since + " or newer", found == 1});
  }
  return needs;
}

std::string missing_kernel_needs() {
  std::string text;
  std::string remedy;
  for (const KernelNeed& need : probe_kernel_needs()) {
    if (!need.is_present) {
      text += (text.empty() ? "this kernel lacks: " : ", ") + need.sentence;
      remedy = need.remedy;
    }
  }
  return text.empty() ? text : text + "; " + remedy;
}

}  // namespace lumbre
