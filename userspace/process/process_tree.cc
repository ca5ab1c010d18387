#include <dirent.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include "userspace/process/process_table.h"

namespace lumbre {
namespace {

// /proc/PID/stat, field 4; the name in field 2 may hold spaces and brackets.
std::uint32_t parent_of(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');
  unsigned parent = 0;
  if (name_end != std::string::npos) {
    std::sscanf(text.c_str() + name_end + 1, " %*c %u", &parent);
  }
  return parent;
}

}  // namespace

std::vector<std::uint32_t> list_processes() {
  std::vector<std::uint32_t> pids;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) {
    return pids;
  }
  while (const dirent* entry = ::readdir(folder)) {
    char* end = nullptr;
    const unsigned long pid = std::strtoul(entry->d_name, &end, 10);
    if (*end == '\0' && pid != 0) {
      pids.push_back(static_cast<std::uint32_t>(pid));
    }
  }
  ::closedir(folder);
  return pids;
}

std::vector<std::uint32_t> find_process_tree(const std::vector<std::uint32_t>& roots) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children;
  for (const std::uint32_t pid : list_processes()) {
    children[parent_of(pid)].push_back(pid);
  }
  std::vector<std::uint32_t> tree = roots;
  std::unordered_set<std::uint32_t> seen(roots.begin(), roots.end());
  for (std::size_t i = 0; i < tree.size(); ++i) {
    for (const std::uint32_t child : children[tree[i]]) {
      if (seen.insert(child).second) {
        tree.push_back(child);
      }
    }
  }
  return tree;
}

}  // namespace lumbre
