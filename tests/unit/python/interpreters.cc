#include "tests/unit/python/interpreters.h"

#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace lumbre {
namespace {

void add_matches(const std::string& pattern, std::vector<std::string>& paths) {
  ::glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.insert(paths.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
}

std::vector<std::string> candidate_paths() {
  std::vector<std::string> paths;
  for (const char* tail : {"python3.[89]", "python3.1[0-9]"}) {
    if (const char* home = std::getenv("HOME")) {
      add_matches(std::string(home) + "/.pyenv/versions/*/bin/" + tail, paths);
    }
    add_matches(std::string("/usr/bin/") + tail, paths);
  }
  if (const char* more = std::getenv("LUMBRE_PYTHONS")) {
    std::istringstream list(more);
    for (std::string path; std::getline(list, path, ':');) {
      paths.push_back(path);
    }
  }
  return paths;
}

// True with the version if the program runs and is a CPython of 3.8 or newer.
bool ask_version(const std::string& path, PythonVersion& version) {
  const auto child = ChildProcess::start(
      {path, "-c",
       "import sys, sysconfig; v = sys.version_info; print(sys.implementation.name, v[0], v[1], "
       "v[2], int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))))"});
  std::istringstream answer(child == nullptr ? "" : child->read_all());
  std::string implementation;
  answer >> implementation >> version.major >> version.minor >> version.micro >>
      version.is_free_threaded;
  return !answer.fail() && implementation == "cpython" && version.minor >= 8;
}

std::vector<Interpreter> search_interpreters() {
  std::vector<Interpreter> interpreters;
  std::vector<std::filesystem::path> seen;
  for (const std::string& path : candidate_paths()) {
    std::error_code failure;
    const auto real = std::filesystem::canonical(path, failure);
    Interpreter interpreter{path, {}};
    if (!failure && std::find(seen.begin(), seen.end(), real) == seen.end() &&
        ask_version(path, interpreter.version)) {
      seen.push_back(real);
      interpreters.push_back(interpreter);
    }
  }
  return interpreters;
}

}  // namespace

const std::vector<Interpreter>& find_interpreters() {
  static const std::vector<Interpreter> interpreters = search_interpreters();
  return interpreters;
}

std::string interpreter_test_name(const ::testing::TestParamInfo<Interpreter>& info) {
  std::string name = "v" + info.param.version.text() + "_" + std::to_string(info.index);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::unique_ptr<ChildProcess> ChildProcess::start(const std::vector<std::string>& command) {
  int input[2];
  int output[2];
  if (::pipe2(input, O_CLOEXEC) != 0) {
    return nullptr;
  }
  UniqueFd input_read(input[0]), input_write(input[1]);
  if (::pipe2(output, O_CLOEXEC) != 0) {
    return nullptr;
  }
  UniqueFd output_read(output[0]), output_write(output[1]);

  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input_read.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, output_write.get(), 1);
  pid_t pid = -1;
  const int failure =
      ::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return nullptr;
  }
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(pid, std::move(input_write), std::move(output_read)));
}

ChildProcess::ChildProcess(pid_t pid, UniqueFd input, UniqueFd output)
    : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}

ChildProcess::~ChildProcess() {
  input_.reset();
  output_.reset();
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool ChildProcess::read_line(std::string& line) {
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return true;
    }
    char buffer[65536];
    const ssize_t count = ::read(output_.get(), buffer, sizeof buffer);
    if (count <= 0) {
      return false;
    }
    unread_.append(buffer, static_cast<std::size_t>(count));
  }
}

std::string ChildProcess::read_all() {
  std::string text;
  for (std::string line; read_line(line);) {
    text += line + '\n';
  }
  return text;
}

}  // namespace lumbre
