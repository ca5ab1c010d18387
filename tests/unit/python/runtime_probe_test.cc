#include "symbolizer/python/runtime_probe.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/python/interpreters.h"
#include "tests/unit/python/live_python.h"

namespace lumbre {
namespace {

class PythonRuntimeOf : public ::testing::TestWithParam<Interpreter> {
 protected:
  void SetUp() override {
    child_ = ChildProcess::start(
        {GetParam().path, "-c", "import sys; print(flush=True); sys.stdin.read()"});
    ASSERT_NE(child_, nullptr);
    std::string line;
    ASSERT_TRUE(child_->read_line(line));
    const auto found = find_live_pythons(child_->pid());
    ASSERT_EQ(found.size(), 1u);
    python_ = found[0];
  }
  // A copy of the interpreter's file with every occurrence of `from` overwritten.
  std::shared_ptr<const ElfFile> copy_with(const std::string& from, const std::string& to) {
    const auto bytes = python_.file->bytes();
    std::string copy(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (auto at = copy.find(from); at != copy.npos; at = copy.find(from, at + 1)) {
      copy.replace(at, to.size(), to);
    }
    return ElfFile::parse(MappedFile::from_bytes(std::move(copy))).value();
  }

  std::unique_ptr<ChildProcess> child_;
  LivePython python_;
};

TEST_P(PythonRuntimeOf, IsFoundWithTheVersionThatTheInterpreterSays) {
  EXPECT_EQ(python_.runtime.version.text(), GetParam().version.text());
  EXPECT_TRUE(python_.runtime.eval_start.has_value());
  EXPECT_GT(python_.runtime.eval_size_bytes, 0u);
}

TEST_P(PythonRuntimeOf, IsSupportedFrom3_8To3_14AndRefusedByNameElsewhere) {
  const PythonVersion& version = GetParam().version;
  const bool is_known = version.minor >= 8 && version.minor <= 14 && !version.is_free_threaded;
  EXPECT_EQ(python_.runtime.is_supported, is_known) << python_.runtime.unsupported_reason;
  if (!is_known) {
    EXPECT_NE(python_.runtime.unsupported_reason.find(version.text()), std::string::npos);
  }
}

TEST_P(PythonRuntimeOf, KeepsItsVersionWithoutTheNamesThatTellIt) {
  const auto file = copy_with("Py_Version", "Qy_Version");
  const auto runtime = find_python_runtime(file);
  ASSERT_TRUE(runtime.has_value());
  EXPECT_EQ(runtime->version.text(), GetParam().version.text());
}

TEST_P(PythonRuntimeOf, IsFoundByItsSectionWhereTheSymbolIsGone) {
  if (python_.file->find_section(".PyRuntime") == nullptr) {
    GTEST_SKIP() << "this interpreter has no .PyRuntime section (3.10 brought it)";
  }
  const auto runtime = find_python_runtime(copy_with("_PyRuntime", "QyRuntime"));
  ASSERT_TRUE(runtime.has_value());
  EXPECT_EQ(runtime->runtime.value, python_.runtime.runtime.value);
}

TEST_P(PythonRuntimeOf, IsRefusedWithoutTheTypeOfCodeObjects) {
  const auto runtime = find_python_runtime(copy_with("PyCode_Type", "QyCode_Type"));
  ASSERT_TRUE(runtime.has_value());
  EXPECT_FALSE(runtime->is_supported);
  EXPECT_NE(runtime->unsupported_reason.find("PyCode_Type"), std::string::npos);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PythonRuntimeOf);
INSTANTIATE_TEST_SUITE_P(Every, PythonRuntimeOf, ::testing::ValuesIn(find_interpreters()),
                         interpreter_test_name);

TEST(FindPythonRuntime, IsNoneInAProgramWithoutPython) {
  auto self = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(self.has_value());
  const auto file = ElfFile::parse(std::move(self).value());
  ASSERT_TRUE(file.has_value());
  EXPECT_FALSE(find_python_runtime(*file).has_value());
}

}  // namespace
}  // namespace lumbre
