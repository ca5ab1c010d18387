// JitFunctions: the functions that one process made at run time, over time.
//
// Code memory is used again: a function lives from `from_ns` until another is put over its first or
// last byte. An address is named by the newest function that covers it and lived at that time.
// Memory is bounded (kMaxFunctions, kMaxTextBytes, kMaxPlaces); what does not fit is counted and
// has no name. One thread; a look-up scans the functions of one 4 KiB page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/base/address.h"

namespace lumbre {

struct JitLine {
  std::uint64_t address = 0;
  std::uint32_t line = 0;
  std::uint32_t file = 0;  // in JitDebug::files
};

// What came with a function in a jitdump, shared with its copies (JIT_CODE_MOVE).
struct JitDebug {
  std::uint64_t code_start = 0;  // where the code was when this was written
  std::vector<std::string> files;
  std::vector<JitLine> lines;       // by address
  std::vector<std::byte> eh_frame;  // with the search table behind it cut off
};

struct JitFunction {
  ProcessAddress start;
  std::uint64_t size_bytes = 0;
  std::uint64_t from_ns = 0;  // CLOCK_MONOTONIC; 0: not known, as far back as anybody asks
  std::uint64_t until_ns = ~std::uint64_t{0};
  std::string name;
  std::shared_ptr<const JitDebug> debug;

  bool covers(ProcessAddress address) const {
    return address >= start && address.value - start.value < size_bytes;
  }
  // The line of an address inside; null where none is known.
  const JitLine* line_at(ProcessAddress address) const;
};

class JitFunctions {
 public:
  static constexpr std::size_t kMaxFunctions = std::size_t{1} << 20;
  static constexpr std::size_t kMaxTextBytes = std::size_t{128} << 20;
  static constexpr std::size_t kMaxPlaces = std::size_t{4} << 20;  // (function, page) pairs
  static constexpr std::uint64_t kMaxFunctionBytes = std::uint64_t{64} << 20;
  static constexpr std::size_t kMaxPerPage = 2048;

  // Ends the life of what it is put over. A function that is there already is not added twice.
  void add(JitFunction function);
  // A function was moved as it is.
  void move(ProcessAddress from, ProcessAddress to, std::uint64_t time_ns);
  const JitFunction* find(ProcessAddress address, std::uint64_t time_ns) const;
  // A function that lives now shares a byte with the range.
  bool is_taken(ProcessAddress start, std::uint64_t size_bytes) const;

  std::size_t size() const { return functions_.size(); }
  std::uint64_t left_out() const { return left_out_; }

 private:
  const std::uint32_t* find_index(ProcessAddress address, std::uint64_t time_ns) const;
  bool has_room(const JitFunction& function) const;
  void bury_under(const JitFunction& added);

  std::deque<JitFunction> functions_;  // in the order in which they came
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_page_;
  std::size_t text_bytes_ = 0;
  std::size_t places_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace lumbre
