#include "userspace/decode/decoder.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace lumbre {
namespace {

template <typename T>
const T* view(std::span<const std::byte> record) {
  // Ring buffer records are 8-byte aligned, and so are all record types.
  return record.size() >= sizeof(T) ? reinterpret_cast<const T*>(record.data()) : nullptr;
}

// Fills up to where the next piece begins; false where it cannot be the next one.
bool add_hole(StackSample& sample, std::uint64_t next_address) {
  constexpr std::uint64_t kLargestHole =
      std::uint64_t{LUMBRE_MAX_STACK_HOLES} * LUMBRE_STACK_CHUNK_BYTES;
  const std::uint64_t end = sample.stack_start + sample.stack.size();
  if (next_address < end || next_address - end > kLargestHole) {
    return false;
  }
  if (next_address != end) {
    sample.stack_holes.emplace_back(end, next_address);
    sample.stack.resize(sample.stack.size() + (next_address - end));
  }
  return true;
}

void cut_text(char* text, std::size_t size) { text[size - 1] = '\0'; }

void cut_names(lumbre_task& task) {
  cut_text(task.thread_name, sizeof(task.thread_name));
  cut_text(task.process_name, sizeof(task.process_name));
}

}  // namespace

void Decoder::add(std::span<const std::byte> record, std::vector<Event>& out) {
  const auto* header = view<lumbre_record_header>(record);
  if (header == nullptr || header->version != LUMBRE_ABI_VERSION) {
    ++malformed_;
    return;
  }
  bool is_piece = true;
  bool is_good = true;
  switch (header->kind) {
    case LUMBRE_RECORD_KERNEL_STACK:
      is_good = add_kernel_stack(record);
      break;
    case LUMBRE_RECORD_STACK_CHUNK:
      is_good = add_stack_chunk(record);
      break;
    case LUMBRE_RECORD_PYTHON_CHUNK:
      is_good = add_python_chunk(record);
      break;
    case LUMBRE_RECORD_NATIVE_CHUNK:
      is_good = add_native_chunk(record);
      break;
    default:
      is_piece = false;
      add_sample(record, out);
      break;
  }
  malformed_ += is_good ? 0 : 1;
  if (is_piece) {
    piece_arrived(*header, record.size(), out);
  }
}

void Decoder::add_sample(std::span<const std::byte> record, std::vector<Event>& out) {
  const auto* header = view<lumbre_record_header>(record);
  if (const auto* sample = view<lumbre_sample>(record);
      header->kind == LUMBRE_RECORD_SAMPLE && sample != nullptr) {
    Pending pending;
    pending.sample.sample = *sample;
    pending.sample.bytes = record.size();
    cut_names(pending.sample.sample.task);
    pending.missing_pieces =
        std::min<std::uint32_t>(sample->stack_chunks, LUMBRE_MAX_STACK_CHUNKS) +
        std::min<std::uint32_t>(sample->python_chunks, LUMBRE_MAX_PYTHON_CHUNKS) +
        std::min<std::uint32_t>(sample->native_chunks, LUMBRE_MAX_NATIVE_CHUNKS) +
        (sample->kernel_frames != 0 ? 1 : 0);
    if (pending.missing_pieces == 0) {
      out.emplace_back(std::move(pending.sample));
    } else {
      pending_.insert_or_assign({header->time_ns, header->cpu}, std::move(pending));
    }
  } else if (const auto* code = view<lumbre_python_code>(record);
             header->kind == LUMBRE_RECORD_PYTHON_CODE && code != nullptr) {
    out.emplace_back(PythonCodeSeen{*code});
  } else if (const auto* process = view<lumbre_process_record>(record);
             header->kind == LUMBRE_RECORD_PROCESS && process != nullptr) {
    ProcessChanged changed{*process};
    cut_names(changed.record.task);
    out.emplace_back(changed);
  } else if (const auto* wait = view<lumbre_wait_record>(record);
             header->kind == LUMBRE_RECORD_WAIT && wait != nullptr) {
    out.emplace_back(WaitEnded{*wait});
  } else if (const auto* thread = view<lumbre_thread_record>(record);
             header->kind == LUMBRE_RECORD_THREAD && thread != nullptr) {
    ThreadAccount account{*thread};
    cut_names(account.record.thread.task);
    out.emplace_back(account);
  } else if (const auto* marker = view<lumbre_marker>(record);
             header->kind == LUMBRE_RECORD_MARKER && marker != nullptr) {
    MarkerSeen seen{*marker};
    cut_names(seen.marker.task);
    cut_text(seen.marker.name, sizeof(seen.marker.name));
    out.emplace_back(seen);
  } else {
    ++malformed_;
  }
}

Decoder::Pending* Decoder::find_pending(const lumbre_record_header& header) {
  const auto found = pending_.find({header.time_ns, header.cpu});
  return found == pending_.end() ? nullptr : &found->second;
}

void Decoder::piece_arrived(const lumbre_record_header& header, std::size_t bytes,
                            std::vector<Event>& out) {
  const auto found = pending_.find({header.time_ns, header.cpu});
  if (found == pending_.end()) {
    return;
  }
  found->second.sample.bytes += bytes;
  if (--found->second.missing_pieces == 0) {
    out.emplace_back(std::move(found->second.sample));
    pending_.erase(found);
  }
}

bool Decoder::add_kernel_stack(std::span<const std::byte> record) {
  const auto* stack = view<lumbre_kernel_stack>(record);
  Pending* pending = stack == nullptr ? nullptr : find_pending(stack->header);
  if (pending == nullptr) {
    return false;
  }
  const auto count =
      std::min<std::size_t>(pending->sample.sample.kernel_frames, LUMBRE_MAX_KERNEL_FRAMES);
  pending->sample.kernel_stack.assign(stack->address, stack->address + count);
  return true;
}

bool Decoder::add_stack_chunk(std::span<const std::byte> record) {
  const auto* chunk = view<lumbre_stack_chunk>(record);
  Pending* pending = chunk == nullptr ? nullptr : find_pending(chunk->header);
  if (pending == nullptr || chunk->size_bytes > LUMBRE_STACK_CHUNK_BYTES) {
    return false;
  }
  StackSample& sample = pending->sample;
  if (sample.stack.empty()) {
    sample.stack_start = chunk->address;
    sample.stack.reserve(sample.sample.stack_chunks * std::size_t{LUMBRE_STACK_CHUNK_BYTES});
  } else if (!add_hole(sample, chunk->address)) {
    return false;
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(chunk->bytes);
  sample.stack.insert(sample.stack.end(), bytes, bytes + chunk->size_bytes);
  return true;
}

bool Decoder::add_python_chunk(std::span<const std::byte> record) {
  const auto* chunk = view<lumbre_python_chunk>(record);
  Pending* pending = chunk == nullptr ? nullptr : find_pending(chunk->header);
  if (pending == nullptr || chunk->count > LUMBRE_PYTHON_CHUNK_FRAMES) {
    return false;
  }
  pending->sample.python.insert(pending->sample.python.end(), chunk->frame,
                                chunk->frame + chunk->count);
  return true;
}

bool Decoder::add_native_chunk(std::span<const std::byte> record) {
  const auto* chunk = view<lumbre_native_chunk>(record);
  Pending* pending = chunk == nullptr ? nullptr : find_pending(chunk->header);
  if (pending == nullptr || chunk->count > LUMBRE_NATIVE_CHUNK_FRAMES) {
    return false;
  }
  pending->sample.native.insert(pending->sample.native.end(), chunk->frame,
                                chunk->frame + chunk->count);
  return true;
}

void Decoder::flush(std::vector<Event>& out) {
  for (auto& [identity, pending] : pending_) {
    out.emplace_back(std::move(pending.sample));
  }
  pending_.clear();
}

}  // namespace lumbre
