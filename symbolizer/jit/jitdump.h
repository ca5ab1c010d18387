// JitdumpParser: the records of a jit-PID.dump file, fed as the file grows.
//
// The format is perf's (tools/perf/Documentation/jitdump-specification.txt), little endian. The
// machine code in it is passed over unread: whoever feeds the parser asks wanted_offset() where to
// go on. A record that contradicts itself ends the parsing for good (nothing says where the next
// begins); an unknown kind of record is passed over. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/jit/functions.h"

namespace lumbre {

class JitdumpParser {
 public:
  // Of one record; a longer name is cut, longer debug or unwind data is left out.
  static constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMaxNameBytes = 4096;

  explicit JitdumpParser(JitFunctions& functions) : functions_(functions) {}

  // Takes the bytes of the file from wanted_offset() on, as many as are there; hand in at least
  // kMaxRecordBytes where the file has them. Returns false when it can do no more without others.
  // Times after `now_ns` are of another clock than CLOCK_MONOTONIC and say nothing.
  bool feed(std::span<const std::byte> bytes, std::uint64_t now_ns);
  std::uint64_t wanted_offset() const { return offset_; }

  bool is_malformed() const { return is_malformed_; }
  std::uint32_t pid() const { return pid_; }  // as the process wrote it; 0 before the header

 private:
  struct Record {
    std::uint32_t id = 0;
    std::uint64_t time_ns = 0;
    std::span<const std::byte> body;  // as much of it as is needed
  };

  std::optional<std::size_t> parse_header(std::span<const std::byte> bytes);
  std::uint64_t time_of(const Record& record) const;
  void handle(const Record& record);
  void handle_load(const Record& record);
  void handle_move(const Record& record);
  void handle_debug_info(const Record& record);
  void handle_unwinding_info(const Record& record);

  JitFunctions& functions_;
  std::uint64_t offset_ = 0;
  bool has_header_ = false;
  bool is_malformed_ = false;
  bool has_monotonic_times_ = true;
  std::uint64_t now_ns_ = 0;
  std::uint32_t pid_ = 0;
  // They come before the function that they belong to.
  std::uint64_t waiting_debug_address_ = 0;
  std::vector<std::string> waiting_files_;
  std::vector<JitLine> waiting_lines_;
  std::vector<std::byte> waiting_eh_frame_;
};

}  // namespace lumbre
