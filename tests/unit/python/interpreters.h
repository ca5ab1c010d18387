// The CPython interpreters of this machine, and a child process that runs one of them.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "symbolizer/base/unique_fd.h"
#include "symbolizer/python/layouts.h"

namespace lumbre {

struct Interpreter {
  std::string path;
  PythonVersion version;  // as the interpreter says
};

// For GoogleTest's messages.
inline void PrintTo(const Interpreter& interpreter, std::ostream* out) { *out << interpreter.path; }

// Those of pyenv, of /usr/bin and of the colon-separated LUMBRE_PYTHONS that run and are CPython
// 3.8 or newer. Asks each once.
const std::vector<Interpreter>& find_interpreters();

// "v3_11_7_2": unique among find_interpreters().
std::string interpreter_test_name(const ::testing::TestParamInfo<Interpreter>& info);

// A running child with pipes on its standard input and output; ends with this object.
class ChildProcess {
 public:
  static std::unique_ptr<ChildProcess> start(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The next line without its end; false at the end of the output.
  bool read_line(std::string& line);
  std::string read_all();

 private:
  ChildProcess(pid_t pid, UniqueFd input, UniqueFd output);

  pid_t pid_;
  UniqueFd input_;
  UniqueFd output_;
  std::string unread_;
};

}  // namespace lumbre
