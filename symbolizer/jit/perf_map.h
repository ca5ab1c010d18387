// PerfMapParser: lines of /tmp/perf-PID.map, "START SIZE name", numbers in hexadecimal, the name to
// the end of the line, spaces and all. The convention is perf's (tools/perf/Documentation/
// jit-interface.txt). Fed as the file grows: an unfinished line waits for its rest. Lines that do
// not parse are skipped; a name is cut at kMaxNameBytes. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "symbolizer/base/address.h"

namespace lumbre {

class PerfMapParser {
 public:
  static constexpr std::size_t kMaxNameBytes = 4096;

  struct Entry {
    ProcessAddress start;
    std::uint64_t size_bytes = 0;
    std::string_view name;  // valid during the call
  };
  using Visitor = std::function<void(const Entry&)>;

  void feed(std::string_view text, const Visitor& visit);

 private:
  void keep(std::string_view text);

  std::string unfinished_;  // the start of a line; no longer than any line can usefully be
};

}  // namespace lumbre
