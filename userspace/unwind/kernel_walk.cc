#include "userspace/unwind/kernel_walk.h"

#include <algorithm>
#include <cstdio>

namespace lumbre {
namespace {

std::string describe_difference(const StackSample& sample, const NativeStack& native,
                                std::size_t at) {
  char text[160];
  const std::uint64_t kernel = at < sample.native.size() ? sample.native[at].pc : 0;
  const std::uint64_t user = at < native.frames.size() ? native.frames[at].pc : 0;
  std::snprintf(text, sizeof(text),
                "pid %u, frame %zu of %zu and %zu: %llx in the kernel, %llx here",
                sample.sample.task.visible_pid, at, sample.native.size(), native.frames.size(),
                static_cast<unsigned long long>(kernel), static_cast<unsigned long long>(user));
  return text;
}

}  // namespace

KernelWalk::KernelWalk(UnwindTableStore& store, ProcessTable& processes)
    : processes_(processes), pages_(store), ranges_(store, processes) {}

void KernelWalk::count(const StackSample& sample) {
  ++counts_.ends[std::min<std::uint32_t>(sample.sample.native_end, LUMBRE_WALK_END_COUNT - 1)];
}

void KernelWalk::learn(const StackSample& sample, const NativeStack& native) {
  if ((sample.sample.flags & LUMBRE_SAMPLE_USER_REGISTERS) == 0 ||
      sample.sample.task.visible_pid == 0) {
    return;
  }
  count(sample);
  if (sample.sample.native_end != LUMBRE_WALK_ROOT) {
    load(sample, native);
  } else if ((sample.sample.flags & LUMBRE_SAMPLE_CHECKED) != 0) {
    compare(sample, native);
  }
}

void KernelWalk::load(const StackSample& sample, const NativeStack& native) {
  const Process* process = processes_.find(sample.sample.task.visible_pid);
  if (process == nullptr || native.end == NativeEnd::kExecuting ||
      native.end == NativeEnd::kExiting) {
    return;
  }
  ranges_.publish(*process, sample.sample.task.address_space, sample.sample.exec_pages,
                  sample.time_ns());
  for (const NativeFrame& frame : native.frames) {
    if (frame.module == kNoModule) {
      continue;
    }
    const Module& module = processes_.modules().at(frame.module);
    if (module.cfi != nullptr &&
        pages_.publish(frame.module, *module.cfi, module.synthesised.get(), {frame.address},
                       sample.time_ns()) == RulePages::Outcome::kFull) {
      ranges_.forget_all();
      pages_.reset(sample.time_ns());
      return;
    }
  }
}

void KernelWalk::compare(const StackSample& sample, const NativeStack& native) {
  // A copy that was cut short says nothing.
  if (native.end == NativeEnd::kStackNotReadable || native.end == NativeEnd::kStackTooLong ||
      native.end == NativeEnd::kRingBufferFull || native.end == NativeEnd::kTooManyFrames) {
    return;
  }
  ++counts_.checked;
  const std::size_t common = std::min(sample.native.size(), native.frames.size());
  std::size_t at = 0;
  while (at < common && native.frames[at].pc == instruction_address(sample.native[at]) &&
         native.frames[at].sp == sample.native[at].sp) {
    ++at;
  }
  if (at != sample.native.size() || at != native.frames.size()) {
    ++counts_.mismatched;
    if (counts_.first_mismatch.empty()) {
      counts_.first_mismatch = describe_difference(sample, native, at);
    }
  }
}

void KernelWalk::apply(const lumbre_process_record& record) {
  if (record.change == LUMBRE_PROCESS_FORK) {
    ranges_.inherit(record.parent_visible_pid, record.task.visible_pid);
  } else {
    ranges_.forget(record.task.visible_pid);
  }
}

}  // namespace lumbre
