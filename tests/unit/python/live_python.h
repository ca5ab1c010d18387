// The CPythons among the files that a process has mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbolizer/python/runtime_probe.h"

namespace lumbre {

struct LivePython {
  std::string path;
  std::shared_ptr<const ElfFile> file;
  PythonRuntime runtime;
  std::uint64_t load_bias = 0;
};

std::vector<LivePython> find_live_pythons(pid_t pid);

}  // namespace lumbre
