#include <dirent.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include "userspace/process/process_table.h"

namespace lumbre {
namespace {

struct TaskStatus {
  char state = 0;  // 0: there is no such task
  std::uint32_t parent = 0;
};

// `folder`/stat, fields 3 and 4; the name in field 2 may hold spaces and brackets.
TaskStatus read_task_status(const std::string& folder) {
  std::ifstream file(folder + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t name_end = text.rfind(')');
  TaskStatus status;
  if (name_end != std::string::npos) {
    std::sscanf(text.c_str() + name_end + 1, " %c %u", &status.state, &status.parent);
  }
  return status;
}

bool is_running(const std::string& folder) {
  const char state = read_task_status(folder).state;
  return state != 0 && state != 'Z' && state != 'X';
}

// The entries of a folder of /proc that are numbers.
std::vector<std::uint32_t> list_numbers(const std::string& path) {
  std::vector<std::uint32_t> numbers;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) {
    return numbers;
  }
  while (const dirent* entry = ::readdir(folder)) {
    char* end = nullptr;
    const unsigned long number = std::strtoul(entry->d_name, &end, 10);
    if (*end == '\0' && number != 0) {
      numbers.push_back(static_cast<std::uint32_t>(number));
    }
  }
  ::closedir(folder);
  return numbers;
}

}  // namespace

bool has_running_thread(std::uint32_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  if (is_running(folder)) {
    return true;
  }
  for (const std::uint32_t tid : list_numbers(folder + "/task")) {
    if (is_running(folder + "/task/" + std::to_string(tid))) {
      return true;
    }
  }
  return false;
}

std::vector<std::uint32_t> list_processes() { return list_numbers("/proc"); }

std::vector<std::uint32_t> find_process_tree(const std::vector<std::uint32_t>& roots) {
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> children;
  for (const std::uint32_t pid : list_processes()) {
    children[read_task_status("/proc/" + std::to_string(pid)).parent].push_back(pid);
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
