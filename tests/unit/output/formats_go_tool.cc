#include "tests/unit/output/formats_go_tool.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace lumbre::output {
namespace {

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::string find_on_path(const std::string& program) {
  int status = 0;
  std::string path = run_shell("command -v " + program, status);
  if (status != 0 || path.empty()) return "";
  path.pop_back();  // the newline
  return path;
}

std::string find_go() {
  const std::string go = find_on_path("go");
  if (!go.empty()) return go;
  return is_program("/usr/local/go/bin/go") ? "/usr/local/go/bin/go" : "";
}

}  // namespace

std::string test_cache() {
  const char* folder = std::getenv("LUMBRE_TEST_CACHE");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp/lumbre-test-cache";
}

std::string find_pprof(std::string& reason) {
  const std::string cached = test_cache() + "/bin/pprof";
  if (is_program(cached)) return cached;
  const std::string installed = find_on_path("pprof");
  if (!installed.empty()) return installed;
  const std::string go = find_go();
  if (go.empty()) {
    reason = "neither pprof nor go is installed";
    return "";
  }
  // The released module first, then the copy that comes with Go's own source.
  const std::string folder = test_cache();
  int status = 0;
  run_shell("mkdir -p '" + folder + "/bin' && export GOCACHE='" + folder + "/go-build' GOPATH='" +
                folder + "/go' GOBIN='" + folder + "/bin' && { '" + go +
                "' install github.com/google/pprof@latest || '" + go + "' build -o '" + cached +
                "' cmd/pprof; } 2>&1",
            status);
  if (is_program(cached)) return cached;
  reason = "pprof could not be installed with go";
  return "";
}

std::string run_shell(const std::string& command, int& status) {
  std::string output;
  std::FILE* pipe = popen(command.c_str(), "r");
  status = -1;
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.append(buffer.data(), size);
  }
  status = pclose(pipe);
  return output;
}

std::string write_test_file(const std::string& name, const std::string& content) {
  const std::string path = ::testing::TempDir() + "lumbre-" + std::to_string(getpid()) + "-" + name;
  std::ofstream file(path, std::ios::binary);
  file << content;
  return path;
}

}  // namespace lumbre::output
