// Collector: one event of a recording in user space: what becomes of its samples and of the records
// that belong to it. The event `cpu` needs none: each of its samples stands for itself.
//
// A collector knows no other collector. One thread, that of the pipeline.
#pragma once

#include <cstdint>

#include "userspace/aggregate/samples.h"
#include "userspace/aggregate/task_labels.h"
#include "userspace/decode/event.h"

namespace lumbre {

// A sample's stack, named or not, in the store.
struct SampledStack {
  StackId stack = 0;
  bool is_approximate = false;
};

class Collector {
 public:
  virtual ~Collector() = default;

  // The recording begins; its programs are attached.
  virtual void begin(std::uint64_t begin_ns) { static_cast<void>(begin_ns); }
  virtual void take(const StackSample& sample, const SampledStack& stack) = 0;
  // Any other record; those of other events are passed over.
  virtual void apply(const Event& event) { static_cast<void>(event); }
  // Once a round of the pipeline (50 times a second) that handled all records sent before `now_ns`.
  virtual void run_round(std::uint64_t now_ns) { static_cast<void>(now_ns); }
  // The recording's time is over: what is still to be asked while its programs go on.
  virtual void ask_last() {}
  // The answers have been handled: detaches its programs.
  virtual void stop() {}
  // All records have been handled.
  virtual void finish() {}
  // Puts the totals into the store; also while recording goes on, before its files are written.
  virtual void publish() = 0;
};

}  // namespace lumbre
