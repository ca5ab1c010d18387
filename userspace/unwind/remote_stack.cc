#include "userspace/unwind/remote_stack.h"

#include <algorithm>

#include "symbolizer/python/stack_reader.h"

namespace lumbre {
namespace {

constexpr std::uint64_t kRedZoneBytes = 128;
constexpr std::uint64_t kPageBytes = LUMBRE_STACK_CHUNK_BYTES;
constexpr std::uint64_t kMaxStackBytes = kPageBytes * LUMBRE_MAX_STACK_CHUNKS;

// One read for the whole where all of it is there, else page by page; untouched pages are holes.
void read_stack(const ProcessMemory& memory, StackSample& sample) {
  const std::uint64_t start = (sample.sample.registers.value[LUMBRE_RSP] - kRedZoneBytes) & ~7ULL;
  const std::uint64_t top = sample.sample.stack_top;
  if (top <= start) {
    sample.sample.stack_end = LUMBRE_STACK_FAULT;
    return;
  }
  const std::uint64_t size = std::min(top - start, kMaxStackBytes);
  sample.sample.stack_end = size == top - start ? LUMBRE_STACK_WHOLE : LUMBRE_STACK_LIMIT;
  sample.stack_start = start;
  sample.stack.resize(size);
  if (memory.read({start}, sample.stack).has_value()) {
    return;
  }
  for (std::uint64_t at = start; at < start + size;) {
    const std::uint64_t end = std::min((at & ~(kPageBytes - 1)) + kPageBytes, start + size);
    if (!memory.read({at}, std::span(sample.stack).subspan(at - start, end - at)).has_value()) {
      sample.stack_holes.emplace_back(at, end);
    }
    at = end;
  }
}

// As the kernel program computes it; see check_code_object() in bpf/core/python_code.h.
std::uint64_t check_of(const ProcessMemory& memory, const lumbre_python_layout& layout,
                       std::uint64_t code) {
  const auto word = [&](std::uint32_t offset) {
    return memory.read_value<std::uint64_t>({code + (offset & ~7U)}).value_or(0);
  };
  return word(layout.code_name) ^ (word(layout.code_line_table) << 16) ^
         (word(layout.code_first_line) << 40);
}

void read_python(const ProcessMemory& memory, const lumbre_python_process& python,
                 StackSample& sample) {
  const auto frames = walk_thread(memory, python, sample.sample.thread_pointer);
  if (!frames.has_value()) {
    const bool has_none = frames.error().kind == ErrorKind::kNotFound;
    sample.sample.python_end = has_none ? LUMBRE_PYTHON_NO_THREAD : LUMBRE_PYTHON_FAULT;
    return;
  }
  const bool has_frame_objects = (python.layout.flags & LUMBRE_PYTHON_FRAME_OBJECTS) != 0;
  for (const PythonFrameRecord& frame : *frames) {
    lumbre_python_frame entry = {};
    entry.code = frame.code_address;
    entry.instruction =
        has_frame_objects ? frame.raw_instruction & 0xffffffff : frame.raw_instruction;
    entry.boundary = !frame.is_boundary ? 0 : std::max<std::uint64_t>(frame.boundary_address, 1);
    entry.check = check_of(memory, python.layout, frame.code_address);
    sample.python.push_back(entry);
  }
  sample.sample.python_frames = static_cast<std::uint32_t>(sample.python.size());
  sample.sample.python_end = LUMBRE_PYTHON_ROOT;
}

}  // namespace

void complete_from_memory(const ProcessMemory& memory,
                          const std::optional<lumbre_python_process>& python,
                          StackSample& sample) {
  if ((sample.sample.flags & LUMBRE_SAMPLE_USER_REGISTERS) == 0) {
    return;
  }
  read_stack(memory, sample);
  if (python.has_value()) {
    read_python(memory, *python, sample);
  }
}

}  // namespace lumbre
