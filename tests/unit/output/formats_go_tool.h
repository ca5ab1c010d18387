// Finds or installs the Go tools that judge our pprof files, and runs them.
#pragma once

#include <string>

namespace lumbre::output {

// The folder for what tests download or build once: $LUMBRE_TEST_CACHE, else a folder in /tmp.
std::string test_cache();

// The path of a `pprof` program; "" with the reason when there is none and none can be had. It is
// looked for in the cache and on PATH, then installed with the Go client.
std::string find_pprof(std::string& reason);

// Standard output of a shell command; `status` is its exit status.
std::string run_shell(const std::string& command, int& status);

// A file in the tests' temporary folder with that content; its path.
std::string write_test_file(const std::string& name, const std::string& content);

}  // namespace lumbre::output
