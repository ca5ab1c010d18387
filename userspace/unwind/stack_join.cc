#include "userspace/unwind/stack_join.h"

#include <algorithm>

namespace lumbre {
namespace {

const char* python_end_text(std::uint32_t end) {
  switch (end) {
    case LUMBRE_PYTHON_FAULT:
      return "python frame not readable";
    case LUMBRE_PYTHON_NOT_A_FRAME:
      return "python frame in transition";
    case LUMBRE_PYTHON_LIMIT:
      return "python stack depth limit";
    case LUMBRE_PYTHON_NO_ROOM:
      return "ring buffer full";
    default:
      return "";
  }
}

bool is_broken(NativeEnd end) { return end != NativeEnd::kRoot && end != NativeEnd::kNoUserStack; }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// Leaf first while it is built.
struct StackJoin::Build {
  const StackSample& sample;
  const NativeStack& native;
  JoinedStack& out;
  std::size_t next_native = 0;
};

void StackJoin::make_groups(const StackSample& sample) {
  groups_.clear();
  std::size_t begin = 0;
  for (std::size_t i = 0; i < sample.python.size(); ++i) {
    const lumbre_python_frame& frame = sample.python[i];
    if (frame.boundary != 0) {
      groups_.push_back({begin, frame.code == 0 ? i : i + 1, frame.boundary, kUnmatched});
      begin = i + 1;
    }
  }
  if (begin < sample.python.size()) {  // the walk ended inside an eval call
    groups_.push_back({begin, sample.python.size(), 0, kUnmatched});
  }
}

void StackJoin::match_by_containment(const NativeStack& native) {
  std::size_t from = 0;
  for (Group& group : groups_) {
    for (std::size_t i = from; i < native.frames.size(); ++i) {
      const NativeFrame& frame = native.frames[i];
      if (group.boundary >= frame.sp && group.boundary < frame.cfa) {
        group.native = i;
        from = i + 1;
        break;
      }
    }
  }
}

bool StackJoin::is_eval_loop(const NativeFrame& frame) {
  if (frame.module == kNoModule || !modules_.at(frame.module).python.has_value()) {
    return false;
  }
  const auto [at, is_new] = eval_loops_.try_emplace({frame.module, frame.address}, false);
  if (is_new) {
    const SymbolIndex* symbols = modules_.at(frame.module).symbols();
    const auto symbol = symbols == nullptr ? std::nullopt : symbols->find({frame.address});
    at->second = symbol.has_value() && symbol->name.starts_with("_PyEval_EvalFrameDefault");
  }
  return at->second;
}

void StackJoin::match_by_count(const NativeStack& native) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < native.frames.size(); ++i) {
    if (is_eval_loop(native.frames[i])) {
      loops.push_back(i);
    }
  }
  // With a whole native stack the leaf may be an eval call that has not linked its frame yet.
  const std::size_t surplus =
      is_broken(native.end) || loops.size() < groups_.size() ? 0 : loops.size() - groups_.size();
  for (std::size_t i = 0; i < groups_.size() && i + surplus < loops.size(); ++i) {
    groups_[i].native = loops[i + surplus];
  }
}

void StackJoin::add_text(Build& build, FrameKind kind, const std::string& text) {
  build.out.root_first.push_back(store_.frames.intern({kind, store_.texts.intern(text), 0}));
}

void StackJoin::add_native(Build& build, std::size_t end) {
  for (; build.next_native < end; ++build.next_native) {
    const NativeFrame& frame = build.native.frames[build.next_native];
    build.out.root_first.push_back(store_.frames.intern(
        frame.module == kNoModule
            ? jit_.frame(build.sample.sample.task.visible_pid, frame.pc, build.sample.time_ns())
            : Frame{FrameKind::kNative, frame.module, frame.address}));
  }
}

void StackJoin::add_python(Build& build, const Group& group) {
  const lumbre_task& task = build.sample.sample.task;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const PythonCodes::Place place =
        codes_.find(task.address_space, task.visible_pid, build.sample.python[i]);
    if (is_interpreter_internal(codes_.at(place.code))) {
      continue;
    }
    build.out.root_first.push_back(
        store_.frames.intern({FrameKind::kPython, place.code, place.line}));
  }
}

std::string StackJoin::describe_native_end(const NativeStack& native) {
  std::string text = native_end_text(native.end);
  if (native.end_module != kNoModule &&
      (native.end == NativeEnd::kNoUnwindData || native.end == NativeEnd::kUnsupportedRule ||
       native.end == NativeEnd::kUnreadableFile || native.end == NativeEnd::kBrokenStack)) {
    text += " in " + file_name(modules_.at(native.end_module).path);
  }
  return text;
}

void StackJoin::add_user_part(Build& build) {
  const bool is_native_broken = is_broken(build.native.end);
  bool is_gap_shown = false;
  for (const Group& group : groups_) {
    if (group.native != kUnmatched) {
      add_native(build, group.native);
    } else if (is_native_broken && !is_gap_shown) {
      add_native(build, build.native.frames.size());
      add_text(build, FrameKind::kMissing, describe_native_end(build.native));
      is_gap_shown = true;
    } else if (!is_native_broken && group.begin != group.end) {
      build.out.is_approximate = true;  // which native frames called it is not known
    }
    add_python(build, group);
    if (group.native != kUnmatched) {
      const NativeFrame& loop = build.native.frames[group.native];
      build.out.root_first.push_back(
          store_.frames.intern({FrameKind::kEvalLoop, loop.module, loop.address}));
      build.next_native = group.native + 1;
    }
  }
  const std::string python_cause = python_end_text(build.sample.sample.python_end);
  if (!python_cause.empty()) {
    add_text(build, FrameKind::kMissing, python_cause);
    build.out.truncated = python_cause;
  }
  add_native(build, build.native.frames.size());
}

void StackJoin::join(const StackSample& sample, const NativeStack& native, JoinedStack& joined) {
  joined.root_first.clear();
  joined.truncated.clear();
  joined.is_approximate = native.is_approximate;
  Build build{sample, native, joined, 0};
  bool is_leaf = true;
  for (const std::uint64_t address : sample.kernel_stack) {
    // All but the first are return addresses: the call is the instruction before.
    const std::uint64_t place = is_leaf ? address : address - 1;
    joined.root_first.push_back(store_.frames.intern({FrameKind::kKernel, 0, place}));
    is_leaf = false;
  }
  make_groups(sample);
  const lumbre_python_layout* layout = codes_.layout(sample.sample.task.visible_pid);
  if (layout != nullptr && (layout->flags & LUMBRE_PYTHON_FRAME_OBJECTS) != 0) {
    match_by_count(native);
  } else {
    match_by_containment(native);
  }
  add_user_part(build);
  if (is_broken(native.end)) {
    joined.truncated = describe_native_end(native);
    add_text(build, FrameKind::kTruncated, joined.truncated);
  }
  std::reverse(joined.root_first.begin(), joined.root_first.end());
}

}  // namespace lumbre
