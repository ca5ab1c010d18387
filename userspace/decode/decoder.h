// Decoder: ring buffer records in, whole events out.
//
// A sample is held back until its pieces have come (they follow it in the ring, with records of
// other CPUs between). Pieces that never come (a full ring) leave the sample short, which its
// *_end fields say. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "userspace/decode/event.h"

namespace lumbre {

class Decoder {
 public:
  // Appends the events that the record completes.
  void add(std::span<const std::byte> record, std::vector<Event>& out);
  // Samples still waiting for pieces; at the end of the recording they are handed out as they are.
  void flush(std::vector<Event>& out);
  std::uint64_t malformed_records() const { return malformed_; }

 private:
  struct Pending {
    StackSample sample;
    std::uint32_t missing_pieces = 0;
  };
  using Identity = std::pair<std::uint64_t, std::uint32_t>;  // time, CPU

  void add_sample(std::span<const std::byte> record, std::vector<Event>& out);
  Pending* find_pending(const lumbre_record_header& header);
  void piece_arrived(const lumbre_record_header& header, std::size_t bytes,
                     std::vector<Event>& out);
  bool add_kernel_stack(std::span<const std::byte> record);
  bool add_stack_chunk(std::span<const std::byte> record);
  bool add_python_chunk(std::span<const std::byte> record);
  bool add_native_chunk(std::span<const std::byte> record);

  std::map<Identity, Pending> pending_;
  std::uint64_t malformed_ = 0;
};

}  // namespace lumbre
