#include "userspace/cli/targets.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "userspace/cli/commands.h"

namespace lumbre {
namespace {

// 0 when there is no such process.
std::uint32_t thread_group(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string key; file >> key;) {
    if (key == "Tgid:") {
      std::uint32_t group = 0;
      file >> group;
      return group;
    }
  }
  return 0;
}

}  // namespace

std::optional<int> resolve_pids(const std::vector<std::string>& texts,
                                std::vector<std::uint32_t>& pids) {
  for (const std::string& text : texts) {
    char* end = nullptr;
    const unsigned long pid = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || pid == 0 || pid > 0x7fffffff) {
      return fail(Error::usage("'" + text + "' is no process id; give -p PID[,PID...]"));
    }
    const std::uint32_t group = thread_group(static_cast<std::uint32_t>(pid));
    if (group == 0) {
      std::fprintf(stderr, "lumbre: cannot record process %lu: no such process\n", pid);
      return kExitNoProcess;
    }
    pids.push_back(group);
  }
  return std::nullopt;
}

}  // namespace lumbre
