#include "symbolizer/python/stack_reader.h"

#include <string>

#include "bpf/abi/limits.h"

namespace lumbre {
namespace {

// Reads one process's structs by the offsets of its layout.
class StateReader {
 public:
  StateReader(const ProcessMemory& memory, const lumbre_python_process& process)
      : memory_(memory), process_(process) {}

  const lumbre_python_layout& layout() const { return process_.layout; }
  bool has_flag(unsigned flag) const { return (layout().flags & flag) != 0; }
  Result<std::uint64_t> word(std::uint64_t base, std::uint64_t offset) const {
    return memory_.read_value<std::uint64_t>({base + offset});
  }
  Result<std::uint8_t> byte(std::uint64_t base, std::uint64_t offset) const {
    return memory_.read_value<std::uint8_t>({base + offset});
  }
  Result<std::uint64_t> first_interpreter() const {
    return word(process_.runtime_address, layout().runtime_interpreters_head);
  }
  Result<std::uint64_t> checked_code(std::uint64_t frame) const;

 private:
  const ProcessMemory& memory_;
  const lumbre_python_process& process_;
};

Result<std::uint64_t> StateReader::checked_code(std::uint64_t frame) const {
  LUMBRE_TRY_ASSIGN(auto code, word(frame, layout().frame_code));
  code &= layout().executable_mask;
  LUMBRE_TRY_ASSIGN(const auto type, word(code, layout().object_type));
  if (type != process_.code_type_address) {
    return Error::malformed("a Python frame whose code is no code object");
  }
  return code;
}

// All thread states, interpreter by interpreter; bounded, as the lists may change meanwhile.
Result<std::vector<std::uint64_t>> thread_states(const StateReader& reader) {
  std::vector<std::uint64_t> states;
  LUMBRE_TRY_ASSIGN(auto interpreter, reader.first_interpreter());
  for (int seen = 0; interpreter != 0 && seen < LUMBRE_MAX_THREAD_STATES; ++seen) {
    LUMBRE_TRY_ASSIGN(auto thread,
                      reader.word(interpreter, reader.layout().interpreter_threads_head));
    while (thread != 0 && states.size() < LUMBRE_MAX_THREAD_STATES) {
      states.push_back(thread);
      LUMBRE_TRY_ASSIGN(thread, reader.word(thread, reader.layout().thread_next));
    }
    LUMBRE_TRY_ASSIGN(interpreter, reader.word(interpreter, reader.layout().interpreter_next));
  }
  return states;
}

// Where a walk begins: the leaf frame and, up to 3.12, the _PyCFrame that points to it.
struct WalkStart {
  std::uint64_t cframe = 0;
  std::uint64_t frame = 0;
};

Result<WalkStart> find_start(const StateReader& reader, std::uint64_t thread) {
  WalkStart start;
  LUMBRE_TRY_ASSIGN(start.frame, reader.word(thread, reader.layout().thread_frame));
  if (reader.has_flag(LUMBRE_PYTHON_CFRAME)) {
    start.cframe = start.frame;
    LUMBRE_TRY_ASSIGN(start.frame, reader.word(start.cframe, reader.layout().cframe_current_frame));
  }
  return start;
}

// A thread that entered a sub-interpreter has one state in each; the one that runs has frames.
Result<WalkStart> find_thread(const StateReader& reader, std::uint64_t thread_id) {
  LUMBRE_TRY_ASSIGN(const auto states, thread_states(reader));
  bool is_found = false;
  for (const std::uint64_t state : states) {
    LUMBRE_TRY_ASSIGN(const auto id, reader.word(state, reader.layout().thread_id));
    if (id != thread_id) {
      continue;
    }
    is_found = true;
    LUMBRE_TRY_ASSIGN(const auto start, find_start(reader, state));
    if (start.frame != 0) {
      return start;
    }
  }
  if (!is_found) {
    return Error::not_found("no Python state belongs to thread " + std::to_string(thread_id));
  }
  return WalkStart{};
}

// Marks the frame as the last of its eval call if it is one, and steps the _PyCFrame chain.
Result<void> note_boundary(const StateReader& reader, std::uint64_t& cframe,
                           PythonFrameRecord& record) {
  if (reader.has_flag(LUMBRE_PYTHON_FRAME_OBJECTS)) {
    record.is_boundary = true;
    return {};
  }
  if (!reader.has_flag(LUMBRE_PYTHON_ENTRY_FLAG)) {
    return {};  // the shim frame that follows says so
  }
  LUMBRE_TRY_ASSIGN(const auto is_entry,
                    reader.byte(record.frame_address, reader.layout().frame_owner));
  if (is_entry != 0) {
    record.is_boundary = true;
    record.boundary_address = cframe;
    LUMBRE_TRY_ASSIGN(cframe, reader.word(cframe, reader.layout().cframe_previous));
  }
  return {};
}

Result<bool> is_shim(const StateReader& reader, std::uint64_t frame) {
  if (!reader.has_flag(LUMBRE_PYTHON_SHIM_FRAMES)) {
    return false;
  }
  LUMBRE_TRY_ASSIGN(const auto owner, reader.byte(frame, reader.layout().frame_owner));
  return owner >= reader.layout().owner_shim_minimum;
}

Result<PythonFrameRecord> read_frame(const StateReader& reader, std::uint64_t frame,
                                     std::uint64_t& cframe) {
  PythonFrameRecord record;
  record.frame_address = frame;
  LUMBRE_TRY_ASSIGN(record.code_address, reader.checked_code(frame));
  LUMBRE_TRY_ASSIGN(record.raw_instruction, reader.word(frame, reader.layout().frame_instruction));
  LUMBRE_TRY(note_boundary(reader, cframe, record));
  return record;
}

}  // namespace

Result<std::vector<PythonFrameRecord>> walk_thread(const ProcessMemory& memory,
                                                   const lumbre_python_process& process,
                                                   std::uint64_t thread_id) {
  const StateReader reader(memory, process);
  LUMBRE_TRY_ASSIGN(const auto start, find_thread(reader, thread_id));
  std::vector<PythonFrameRecord> frames;
  std::uint64_t cframe = start.cframe;
  std::uint64_t frame = start.frame;
  for (int steps = 0; frame != 0; ++steps) {
    if (steps == 2 * LUMBRE_MAX_PYTHON_FRAMES || frames.size() == LUMBRE_MAX_PYTHON_FRAMES) {
      return Error::unsupported("a Python stack of more than " +
                                std::to_string(LUMBRE_MAX_PYTHON_FRAMES) + " frames");
    }
    LUMBRE_TRY_ASSIGN(const bool is_shim_frame, is_shim(reader, frame));
    if (!is_shim_frame) {
      LUMBRE_TRY_ASSIGN(const auto record, read_frame(reader, frame, cframe));
      frames.push_back(record);
    } else if (!frames.empty() && !frames.back().is_boundary) {
      // (A leaf shim is an eval call that has begun no frame yet.)
      frames.back().is_boundary = true;
      frames.back().boundary_address = frame;
    }
    LUMBRE_TRY_ASSIGN(frame, reader.word(frame, reader.layout().frame_back));
  }
  return frames;
}

Result<std::vector<std::uint64_t>> list_threads(const ProcessMemory& memory,
                                                const lumbre_python_process& process) {
  const StateReader reader(memory, process);
  LUMBRE_TRY_ASSIGN(auto states, thread_states(reader));
  for (std::uint64_t& state : states) {
    LUMBRE_TRY_ASSIGN(state, reader.word(state, reader.layout().thread_id));
  }
  return states;
}

}  // namespace lumbre
