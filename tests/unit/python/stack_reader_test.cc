#include "symbolizer/python/stack_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "symbolizer/procfs/maps.h"
#include "symbolizer/python/code_object.h"
#include "tests/unit/python/interpreters.h"
#include "tests/unit/python/live_python.h"

namespace lumbre {
namespace {

const std::string kNesting = LUMBRE_SOURCE_DIR "/tests/puppets/python/nesting.py";

// What one thread of the puppet says of itself.
struct ToldThread {
  std::uint64_t thread_id = 0;  // pthread_self()
  int kernel_id = 0;
  std::vector<std::string> frames;  // "name TAB file TAB line", leaf first
};

std::vector<ToldThread> read_told_threads(ChildProcess& child) {
  std::vector<ToldThread> threads;
  std::string line;
  while (child.read_line(line) && line != "ready") {
    if (line.starts_with("thread ")) {
      std::istringstream head(line.substr(7));
      ToldThread& thread = threads.emplace_back();
      head >> thread.thread_id >> thread.kernel_id;
    } else if (!threads.empty()) {
      threads.back().frames.push_back(line);
    }
  }
  return threads;
}

// Waits until the thread is inside read(0, ...), as it says before it blocks.
bool wait_until_reading(pid_t pid, int kernel_id) {
  const std::string path =
      "/proc/" + std::to_string(pid) + "/task/" + std::to_string(kernel_id) + "/syscall";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < deadline) {
    std::string number, first_argument;
    std::ifstream(path) >> number >> first_argument;
    if (number == "0" && first_argument == "0x0") {
      return true;
    }
    std::this_thread::yield();
  }
  return false;
}

// The frames as the puppet tells them; those of the interpreter itself left out.
std::vector<std::string> describe_frames(const ProcessMemory& memory,
                                         const lumbre_python_process& process,
                                         const std::vector<PythonFrameRecord>& frames) {
  std::vector<std::string> lines;
  for (const PythonFrameRecord& frame : frames) {
    const auto code = read_code_object(memory, {frame.code_address}, process.layout);
    if (!code.has_value()) {
      lines.push_back(code.error().message);
    } else if (!is_interpreter_internal(*code)) {
      const auto offset =
          instruction_offset(process.layout, frame.code_address, frame.raw_instruction);
      const auto line = find_line(*code, offset).line;
      lines.push_back(code->name + '\t' + code->filename + '\t' + std::to_string(line));
    }
  }
  return lines;
}

class PythonStack : public ::testing::TestWithParam<Interpreter> {
 protected:
  // Starts the puppet and waits until all its threads block, or burn.
  void start(const std::vector<std::string>& options) {
    std::vector<std::string> command = {GetParam().path, kNesting};
    command.insert(command.end(), options.begin(), options.end());
    child_ = ChildProcess::start(command);
    ASSERT_NE(child_, nullptr);
    told_ = read_told_threads(*child_);
    ASSERT_FALSE(told_.empty()) << "the puppet said nothing";
    for (const ToldThread& thread : told_) {
      ASSERT_TRUE(is_burning(options) || wait_until_reading(child_->pid(), thread.kernel_id));
    }
    const auto found = find_live_pythons(child_->pid());
    ASSERT_EQ(found.size(), 1u) << "one CPython is in the process";
    ASSERT_TRUE(found[0].runtime.is_supported) << found[0].runtime.unsupported_reason;
    process_ = place_python_runtime(found[0].runtime, found[0].load_bias);
  }
  static bool is_burning(const std::vector<std::string>& options) {
    return std::find(options.begin(), options.end(), "--burn") != options.end();
  }
  std::vector<PythonFrameRecord> walk(const ToldThread& thread) {
    const LiveProcessMemory memory(child_->pid());
    auto frames = walk_thread(memory, process_, thread.thread_id);
    EXPECT_TRUE(frames.has_value()) << frames.error().message;
    return frames.has_value() ? *frames : std::vector<PythonFrameRecord>{};
  }
  // The mapping that is the stack of the thread: it holds the frame's native boundaries.
  static bool is_writable_address(const std::vector<MapsEntry>& maps, std::uint64_t address) {
    return std::any_of(maps.begin(), maps.end(), [&](const MapsEntry& mapping) {
      return mapping.is_writable && mapping.start.value <= address && address < mapping.end.value;
    });
  }

  std::unique_ptr<ChildProcess> child_;
  std::vector<ToldThread> told_;
  lumbre_python_process process_{};
};

TEST_P(PythonStack, EqualsWhatTheProgramKnowsOfItself) {
  ASSERT_NO_FATAL_FAILURE(start({"--threads", "3"}));
  ASSERT_EQ(told_.size(), 3u);
  const LiveProcessMemory memory(child_->pid());
  for (const ToldThread& thread : told_) {
    const auto frames = describe_frames(memory, process_, walk(thread));
    EXPECT_GT(frames.size(), 100u);
    for (std::size_t depth = 0; depth < std::min(frames.size(), thread.frames.size()); ++depth) {
      ASSERT_EQ(frames[depth], thread.frames[depth]) << "at depth " << depth;
    }
    EXPECT_EQ(frames.size(), thread.frames.size());
  }
}

TEST_P(PythonStack, MarksEvalCallsFromTheLeafToTheRootOfTheNativeStack) {
  ASSERT_NO_FATAL_FAILURE(start({}));
  const auto frames = walk(told_[0]);
  ASSERT_FALSE(frames.empty());
  EXPECT_TRUE(frames.back().is_boundary);
  const auto maps = read_maps(child_->pid());
  ASSERT_TRUE(maps.has_value());
  std::uint64_t last = 0;
  for (const PythonFrameRecord& frame : frames) {
    const bool has_address = frame.is_boundary && GetParam().version.minor >= 11;
    if (has_address) {
      EXPECT_GT(frame.boundary_address, last) << "eval calls lie in the order of their frames";
      EXPECT_TRUE(is_writable_address(*maps, frame.boundary_address));
      last = frame.boundary_address;
    } else {
      EXPECT_EQ(frame.boundary_address, 0u);
    }
  }
}

// From 3.11 on a Python function that calls another stays in its eval call.
TEST_P(PythonStack, SharesOneEvalCallBetweenPlainCallsWhereTheVersionDoes) {
  ASSERT_NO_FATAL_FAILURE(start({"--only", "from_deep_recursion"}));
  const auto frames = walk(told_[0]);
  ASSERT_GT(frames.size(), 60u);
  const auto boundaries = std::count_if(frames.begin(), frames.end(),
                                        [](const auto& frame) { return frame.is_boundary; });
  if (GetParam().version.minor < 11) {
    EXPECT_EQ(static_cast<std::size_t>(boundaries), frames.size());
  } else {
    EXPECT_LE(boundaries, 3);
  }
}

// The thread runs while it is read; its frames stay the same, only the leaf's instruction moves.
TEST_P(PythonStack, IsReadWhileTheThreadRuns) {
  ASSERT_NO_FATAL_FAILURE(start({"--burn", "60", "--only", "from_reduce,from_generator"}));
  const LiveProcessMemory memory(child_->pid());
  const auto read_frames = [&] { return describe_frames(memory, process_, walk(told_[0])); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (read_frames() != told_[0].frames) {  // until it has left its report
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  for (int round = 0; round < 500; ++round) {
    ASSERT_EQ(read_frames(), told_[0].frames);
  }
}

TEST_P(PythonStack, IsNotFoundForAThreadWithoutPythonState) {
  ASSERT_NO_FATAL_FAILURE(start({"--only", "plainly"}));
  const LiveProcessMemory memory(child_->pid());
  const auto frames = walk_thread(memory, process_, told_[0].thread_id + 64);
  ASSERT_FALSE(frames.has_value());
  EXPECT_EQ(frames.error().kind, ErrorKind::kNotFound);
}

TEST_P(PythonStack, ListsEveryThreadOnce) {
  ASSERT_NO_FATAL_FAILURE(start({"--threads", "3", "--only", "plainly"}));
  const LiveProcessMemory memory(child_->pid());
  auto ids = list_threads(memory, process_);
  ASSERT_TRUE(ids.has_value());
  std::vector<std::uint64_t> told;
  for (const ToldThread& thread : told_) {
    told.push_back(thread.thread_id);
  }
  std::sort(ids->begin(), ids->end());
  std::sort(told.begin(), told.end());
  EXPECT_EQ(*ids, told);
}

std::vector<Interpreter> supported_interpreters() {
  std::vector<Interpreter> supported;
  for (const Interpreter& interpreter : find_interpreters()) {
    if (interpreter.version.minor <= 14 && !interpreter.version.is_free_threaded) {
      supported.push_back(interpreter);
    }
  }
  return supported;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PythonStack);
INSTANTIATE_TEST_SUITE_P(Every, PythonStack, ::testing::ValuesIn(supported_interpreters()),
                         interpreter_test_name);

// A target whose memory reads as the same word everywhere, so that every chain is a loop.
class LoopingMemory : public ProcessMemory {
 public:
  explicit LoopingMemory(std::uint64_t word) : word_(word) {}
  Result<void> read(ProcessAddress, std::span<std::byte> into) const override {
    for (std::size_t at = 0; at < into.size(); ++at) {
      into[at] = static_cast<std::byte>(word_ >> (at % 8 * 8));
    }
    return {};
  }

 private:
  std::uint64_t word_;
};

TEST(WalkThread, EndsOnMemoryThatLeadsInCircles) {
  for (const unsigned minor : {8u, 10u, 11u, 12u}) {
    lumbre_python_process process{};
    process.layout = layout_of_version({3, minor, 0, false}).value();
    for (const std::uint64_t word : {0x4141414141414141u, 0x0303030303030303u}) {
      process.code_type_address = word;
      const auto frames = walk_thread(LoopingMemory(word), process, word);
      ASSERT_FALSE(frames.has_value());
      EXPECT_EQ(frames.error().kind, ErrorKind::kUnsupported);
    }
  }
}

TEST(WalkThread, RefusesAFrameWithoutACodeObject) {
  lumbre_python_process process{};
  process.layout = layout_of_version({3, 8, 0, false}).value();
  process.code_type_address = 0x1000;
  const auto frames = walk_thread(LoopingMemory(0x2000), process, 0x2000);
  ASSERT_FALSE(frames.has_value());
  EXPECT_EQ(frames.error().kind, ErrorKind::kMalformed);
}

}  // namespace
}  // namespace lumbre
