// /proc/PID/maps: text in, entries out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/base/address.h"
#include "symbolizer/base/result.h"

namespace lumbre {

struct MapsEntry {
  ProcessAddress start;
  ProcessAddress end;
  bool is_readable = false, is_writable = false, is_executable = false;
  FileOffset offset;
  unsigned device_major = 0, device_minor = 0;
  unsigned long long inode = 0;
  // The rest of the line, octal escapes undone ("\012"), without " (deleted)". May hold spaces.
  std::string path;
  bool is_deleted = false;
};

std::vector<MapsEntry> parse_maps(std::string_view text);  // lines that do not parse are skipped
Result<std::vector<MapsEntry>> read_maps(int pid, const std::string& proc_root = "/proc");

}  // namespace lumbre
