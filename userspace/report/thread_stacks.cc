#include "userspace/report/thread_stacks.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "userspace/report/frame_namer.h"
#include "userspace/report/profile_builder.h"

namespace lumbre {
namespace {

std::string frame_text(const output::Profile& profile, const output::Line& line) {
  const output::Function& function = profile.functions[line.function];
  std::string text = profile.text(function.name);
  if (function.filename != 0) {
    text += "  " + profile.text(function.filename);
    text += line.line > 0 ? ":" + std::to_string(line.line) : "";
  }
  return text;
}

// Names the stacks of one recording.
class StackTexts {
 public:
  StackTexts(Recording& recording, NameSources& sources, bool shows_interpreter_frames)
      : store_(recording.pipeline().store()),
        shows_interpreter_frames_(shows_interpreter_frames),
        namer_(store_, {recording.pipeline().codes(), recording.pipeline().jit(), sources},
               profile_) {}

  std::vector<std::string> of(StackId stack, bool is_wait) {
    std::vector<FrameId> frames = store_.stacks.leaf_first(stack);
    if (is_wait) {
      const std::size_t hidden = frames.size() - without_scheduler(frames, namer_).size();
      frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(hidden));
    }
    if (!shows_interpreter_frames_) {
      frames = visible_frames(frames, store_, namer_);
    }
    std::vector<std::string> texts;
    for (const FrameId frame : frames) {
      const output::LocationId id = namer_.location(frame);
      for (const output::Line& line : profile_.locations[id].lines) {
        texts.push_back(frame_text(profile_, line));
      }
    }
    return texts;
  }

 private:
  const SampleStore& store_;
  bool shows_interpreter_frames_;
  output::Profile profile_;
  FrameNamer namer_;
};

// The last sample on a CPU of each thread.
std::map<std::pair<std::uint32_t, std::uint32_t>, StackId> last_running(const SampleStore& store) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, StackId> last;
  for (const WeightedStack& sample : store.timed()) {
    if (sample.event == LUMBRE_EVENT_CPU) {
      last[{sample.pid, sample.tid}] = sample.stack;
    }
  }
  return last;
}

std::string state_text(const ThreadNow& now) {
  if (!now.is_waiting) {
    return "running";
  }
  return now.wait == LUMBRE_WAIT_RUNNABLE ? "ready to run"
                                          : std::string("waiting: ") + wait_name(now.wait);
}

}  // namespace

std::size_t ThreadGroup::thread_count() const {
  return std::accumulate(threads.begin(), threads.end(), std::size_t{0},
                         [](std::size_t sum, const auto& of) { return sum + of.second.size(); });
}

std::vector<ThreadGroup> group_threads(Recording& recording, NameSources& sources,
                                       bool shows_interpreter_frames) {
  StackTexts texts(recording, sources, shows_interpreter_frames);
  const auto running = last_running(recording.pipeline().store());
  std::map<std::pair<std::string, std::vector<std::string>>, ThreadGroup> groups;
  for (const ThreadNow& now : recording.facts().offcpu->at_end()) {
    const bool is_visible = now.task.visible_pid != 0;
    const std::uint32_t pid = is_visible ? now.task.visible_pid : now.task.host_pid;
    const std::uint32_t tid = is_visible ? now.task.visible_tid : now.task.host_tid;
    std::vector<std::string> frames;
    if (now.is_waiting) {
      frames = texts.of(now.stack.stack, true);
    } else if (const auto found = running.find({pid, tid}); found != running.end()) {
      frames = texts.of(found->second, false);
    } else {
      frames = {"[not sampled: it had just got its CPU]"};
    }
    ThreadGroup& group = groups[{state_text(now), frames}];
    group.state = state_text(now);
    group.frames = frames;
    group.threads[pid].push_back(tid);
    group.process_names[pid] = now.task.process_name;
    group.longest_wait_ns = std::max(group.longest_wait_ns, now.waited_ns);
    group.is_older = group.is_older || now.is_older;
  }
  std::vector<ThreadGroup> sorted;
  for (auto& [key, group] : groups) {
    sorted.push_back(std::move(group));
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const ThreadGroup& a, const ThreadGroup& b) {
    return a.thread_count() > b.thread_count();
  });
  return sorted;
}

}  // namespace lumbre
