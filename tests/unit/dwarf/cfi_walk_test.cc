// This process walks its own captured stacks, by compact rules and by whole rows, and has to see
// what libgcc's unwinder saw, up to the root.
#include <gtest/gtest.h>
#include <link.h>

#include "symbolizer/dwarf/cfi_step.h"
#include "tests/unit/dwarf/cfi_test_support.h"
#include "tests/unit/dwarf/cfi_walk_functions.h"

namespace lumbre {
namespace {

struct Module {
  std::uint64_t bias = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::shared_ptr<const ElfFile> file;
  std::unique_ptr<CfiTable> table;
};

Module load_module(const dl_phdr_info& info) {
  Module module;
  module.bias = info.dlpi_addr;
  module.start = ~std::uint64_t{0};
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) {
      module.start = std::min(module.start, module.bias + segment.p_vaddr);
      module.end = std::max(module.end, module.bias + segment.p_vaddr + segment.p_memsz);
    }
  }
  const std::string name = info.dlpi_name;
  const bool is_vdso = name.find("vdso") != std::string::npos;
  module.file =
      parse_image(is_vdso ? vdso_image() : read_file(name.empty() ? "/proc/self/exe" : name));
  module.table = std::make_unique<CfiTable>(module.file);
  return module;
}

class Modules {
 public:
  Modules() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
          static_cast<std::vector<Module>*>(data)->push_back(load_module(*info));
          return 0;
        },
        &modules_);
  }

  const Module* find(std::uint64_t address) const {
    for (const auto& module : modules_) {
      if (address >= module.start && address < module.end) {
        return &module;
      }
    }
    return nullptr;
  }

  static const Modules& instance() {
    static const Modules modules;
    return modules;
  }

 private:
  std::vector<Module> modules_;
};

enum class Method { kRules, kRows };

struct Walk {
  std::vector<std::uint64_t> addresses;
  StepResult end = LUMBRE_STEP_NO_RULE;
  unsigned by_kind[LUMBRE_CFA_FULL + 1] = {};
};

StepResult step(Method method, std::uint64_t look_up, lumbre_registers& registers,
                StackReader& stack, Walk& walk, bool& is_signal_frame) {
  const Module* module = Modules::instance().find(look_up);
  if (module == nullptr) {
    return LUMBRE_STEP_NO_RULE;
  }
  const auto row = module->table->find_row(ImageAddress{look_up - module->bias});
  if (!row.has_value()) {
    return LUMBRE_STEP_NO_RULE;
  }
  is_signal_frame = row->is_signal_frame;
  if (method == Method::kRows) {
    return step_by_row(*row, registers, stack, module->bias);
  }
  const auto rule = module->table->find_rule(ImageAddress{look_up - module->bias});
  ++walk.by_kind[rule->rule.cfa_kind];
  return step_by_rule(rule->rule, registers, stack);
}

Walk walk(const Capture& capture, Method method) {
  Walk result;
  CapturedStacks stack(capture);
  lumbre_registers registers = capture.registers;
  bool is_exact = true;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t address = registers.value[LUMBRE_RIP];
    result.addresses.push_back(address);
    bool is_signal_frame = false;
    result.end =
        step(method, is_exact ? address : address - 1, registers, stack, result, is_signal_frame);
    if (result.end != LUMBRE_STEP_OK) {
      return result;
    }
    is_exact = is_signal_frame;
  }
  return result;
}

// The walk has to end in the root, and to list that unwinder's frames; the first is another place
// in the same function.
void expect_walk_equals_backtrace(const Capture& capture, const Walk& walked) {
  EXPECT_EQ(walked.end, LUMBRE_STEP_ROOT);
  ASSERT_EQ(walked.addresses.size(), capture.backtrace.size());
  for (std::size_t i = 1; i < walked.addresses.size(); ++i) {
    EXPECT_EQ(walked.addresses[i], capture.backtrace[i]) << "frame " << i;
  }
}

void expect_ends_in_start(const Walk& walked) {
  const Module* module = Modules::instance().find(walked.addresses.back());
  ASSERT_NE(module, nullptr);
  const auto row = module->table->find_row(module->file->entry());
  ASSERT_TRUE(row.has_value());
  const auto last = module->table->find_row(ImageAddress{walked.addresses.back() - module->bias});
  ASSERT_TRUE(last.has_value());
  EXPECT_GE(last->start, row->start);
  EXPECT_LT(last->start.value, row->start.value + 64);  // _start is this short
}

class CfiWalk : public testing::TestWithParam<Method> {};

TEST_P(CfiWalk, NestedCallsWithoutFramePointers) {
  const auto capture = capture_nested(90);
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  EXPECT_GT(walked.addresses.size(), 92u);
  expect_ends_in_start(walked);
}

TEST_P(CfiWalk, CallbackOfLibc) {
  const auto capture = capture_in_qsort_callback();
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  expect_ends_in_start(walked);
}

TEST_P(CfiWalk, SignalHandler) {
  const auto capture = capture_in_signal_handler(false);
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  expect_ends_in_start(walked);
  if (GetParam() == Method::kRules) {
    EXPECT_EQ(walked.by_kind[LUMBRE_CFA_SIGNAL], 1u);
  }
}

TEST_P(CfiWalk, SignalHandlerOnAlternateStack) {
  const auto capture = capture_in_signal_handler(true);
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  expect_ends_in_start(walked);
}

TEST_P(CfiWalk, RealignedFrameWhoseCfaIsReadFromTheStack) {
  if (!__builtin_cpu_supports("avx2")) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  const auto capture = capture_in_realigned_function();
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  expect_ends_in_start(walked);
  if (GetParam() == Method::kRules) {
    EXPECT_GE(walked.by_kind[LUMBRE_CFA_DEREF], 1u);
  }
}

TEST_P(CfiWalk, ThreadEndsInItsStart) {
  const auto capture = capture_in_thread();
  const auto walked = walk(capture, GetParam());
  expect_walk_equals_backtrace(capture, walked);
  EXPECT_GE(walked.addresses.size(), 6u);
}

INSTANTIATE_TEST_SUITE_P(Both, CfiWalk, testing::Values(Method::kRules, Method::kRows),
                         [](const auto& parameter) {
                           return parameter.param == Method::kRules ? "ByRules" : "ByRows";
                         });

TEST(CfiWalkEnds, NoFrameNeedsTheWholeRow) {
  const auto walked = walk(capture_in_signal_handler(false), Method::kRules);
  EXPECT_EQ(walked.by_kind[LUMBRE_CFA_FULL], 0u);
}

TEST(CfiWalkEnds, StackThatEndsEarlyIsAReadFault) {
  auto capture = capture_nested(10);
  auto& [start, bytes] = *capture.stacks.begin();
  bytes.resize(1024);
  EXPECT_EQ(walk(capture, Method::kRules).end, LUMBRE_STEP_READ_FAULT);
  EXPECT_EQ(walk(capture, Method::kRows).end, LUMBRE_STEP_READ_FAULT);
}

}  // namespace
}  // namespace lumbre
