#include "symbolizer/python/method_names.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "symbolizer/elf/symbol_index.h"
#include "symbolizer/python/method_bodies.h"
#include "tests/unit/python/interpreters.h"
#include "tests/unit/python/live_python.h"

namespace lumbre {
namespace {

class MethodNamesOf : public ::testing::TestWithParam<Interpreter> {
 protected:
  void SetUp() override {
    child_ = ChildProcess::start(
        {GetParam().path, "-c", "import sys; print(flush=True); sys.stdin.read()"});
    ASSERT_NE(child_, nullptr);
    std::string line;
    ASSERT_TRUE(child_->read_line(line));
    const auto found = find_live_pythons(child_->pid());
    ASSERT_EQ(found.size(), 1u);
    file_ = found[0].file;
    methods_ = find_method_names(*file_);
  }
  bool has_name(const std::string& name) const {
    return std::ranges::find(methods_, name, &MethodName::name) != methods_.end();
  }

  std::unique_ptr<ChildProcess> child_;
  std::shared_ptr<const ElfFile> file_;
  std::vector<MethodName> methods_;
};

TEST_P(MethodNamesOf, HoldWhatEveryInterpreterHasWithoutItsSymbols) {
  const bool has_classes = !GetParam().version.is_free_threaded;  // its objects begin otherwise
  for (const std::string name : {"sorted", "sum", "print", "getattr"}) {
    EXPECT_TRUE(has_name(name)) << name;
  }
  for (const std::string method : {"sort", "append"}) {
    EXPECT_TRUE(has_name(has_classes ? "list." + method : method)) << method;
  }
  EXPECT_GT(methods_.size(), 500u);
}

TEST_P(MethodNamesOf, AreSortedAndFoundByTheFunctionsStartAlone) {
  for (std::size_t i = 1; i < methods_.size(); ++i) {
    ASSERT_LT(methods_[i - 1].function, methods_[i].function);
  }
  const auto sorted = std::ranges::find(methods_, "sorted", &MethodName::name);
  ASSERT_NE(sorted, methods_.end());
  EXPECT_EQ(find_method(methods_, sorted->function), &*sorted);
  EXPECT_EQ(find_method(methods_, {sorted->function.value + 1}), nullptr);
  EXPECT_EQ(find_method(methods_, {~std::uint64_t{0}}), nullptr);
}

TEST_P(MethodNamesOf, AgreeWithTheSymbolTable) {
  const auto symbols = SymbolIndex::build(file_);
  if (!symbols->has_symtab()) {
    GTEST_SKIP() << "this interpreter is stripped";
  }
  for (const auto& [name, function] :
       {std::pair<std::string, std::string>{"sorted", "builtin_sorted"},
        {"sum", "builtin_sum"},
        {"sort", "list_sort"},
        {"append", "list_append"}}) {
    const auto method = std::ranges::find_if(methods_, [&](const MethodName& candidate) {
      return candidate.name == name || candidate.name == "list." + name;
    });
    ASSERT_NE(method, methods_.end()) << name;
    const auto symbol = symbols->find(method->function);
    ASSERT_TRUE(symbol.has_value()) << name;
    EXPECT_EQ(symbol->address, method->function) << name;
    EXPECT_NE(symbol->name.find(function), std::string_view::npos) << name << ": " << symbol->name;
  }
}

TEST_P(MethodNamesOf, BeginWhereTheSymbolTableHasAFunctionBegin) {
  const auto symbols = SymbolIndex::build(file_);
  if (!symbols->has_symtab()) {
    GTEST_SKIP() << "this interpreter is stripped";
  }
  for (const MethodName& method : methods_) {
    const auto symbol = symbols->find(method.function);
    ASSERT_TRUE(symbol.has_value()) << method.name;
    EXPECT_EQ(symbol->address, method.function) << method.name << " in " << symbol->name;
  }
}

// Hundreds of them, so that a wrong field or a wrong relocation cannot pass.
TEST_P(MethodNamesOf, AreMostlyPartOfTheNamesInTheSymbolTable) {
  const auto symbols = SymbolIndex::build(file_);
  if (!symbols->has_symtab()) {
    GTEST_SKIP() << "this interpreter is stripped";
  }
  std::size_t similar = 0;
  for (const MethodName& method : methods_) {
    const std::string plain = method.name.substr(method.name.rfind('.') + 1);
    const auto symbol = symbols->find(method.function);
    similar += symbol.has_value() && symbol->name.find(plain) != std::string_view::npos;
  }
  // The others are such as "__reduce__" at list_reduce.
  EXPECT_GT(similar * 10, methods_.size() * 6) << similar << " of " << methods_.size();
}

// Such as "list_append.cold": no PyMethodDef has it, a jump from its method leads there.
TEST_P(MethodNamesOf, GiveSplitOffPartsToTheirMethod) {
  const auto symbols = SymbolIndex::build(file_);
  for (const MethodName& part : methods_) {
    const auto symbol = symbols->find(part.function);
    const auto cold = symbol.has_value() ? symbol->name.find(".cold") : std::string_view::npos;
    if (cold != std::string_view::npos) {
      EXPECT_TRUE(std::ranges::any_of(methods_,
                                      [&](const MethodName& method) {
                                        const auto whole = symbols->find(method.function);
                                        return method.name == part.name &&
                                               whole->name == symbol->name.substr(0, cold);
                                      }))
          << part.name << " at " << symbol->name;
    }
  }
}

TEST_P(MethodNamesOf, LeaveOutPartsThatTheFileRefersToElsewhere) {
  constexpr int kMaxTries = 30;
  std::vector<MethodName> parts;
  std::vector<MethodName> method;
  for (int tries = 0; const MethodName& candidate : methods_) {
    const auto has_same_name = [&](const MethodName& other) {
      return other.name == candidate.name;
    };
    if (std::ranges::count_if(methods_, has_same_name) > 1 && tries++ < kMaxTries) {
      method = {candidate};
      parts = find_method_bodies(*file_, method);
    }
    if (!parts.empty()) {
      break;
    }
  }
  if (parts.empty()) {
    GTEST_SKIP() << "no method of this interpreter is known to have a part elsewhere";
  }
  std::string changed(reinterpret_cast<const char*>(file_->bytes().data()), file_->bytes().size());
  const auto address = static_cast<std::uint32_t>(parts[0].function.value);
  std::memcpy(changed.data() + EI_PAD, &address, sizeof(address));  // loaded, and without meaning
  const auto file = ElfFile::parse(MappedFile::from_bytes(std::move(changed)));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(find_method(find_method_bodies(*file.value(), method), parts[0].function), nullptr);
}

TEST_P(MethodNamesOf, SurviveDamage) {
  const auto bytes = file_->bytes();
  const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::mt19937_64 random(1);
  for (int round = 0; round < 8; ++round) {
    std::string damaged = whole.substr(0, whole.size() - (round % 2) * (random() % whole.size()));
    for (std::size_t i = 0; i < damaged.size() / 64; ++i) {
      const std::uint64_t word = random() % 3 == 0 ? ~std::uint64_t{0} : random() % whole.size();
      const std::size_t at = 4096 + random() % damaged.size();
      if (at + sizeof(word) <= damaged.size()) {
        std::memcpy(damaged.data() + at, &word, sizeof(word));
      }
    }
    const auto file = ElfFile::parse(MappedFile::from_bytes(std::move(damaged)));
    if (file.has_value()) {
      EXPECT_LE(find_method_names(*file.value()).size(), methods_.size() * 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Here, MethodNamesOf, ::testing::ValuesIn(find_interpreters()),
                         interpreter_test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MethodNamesOf);

TEST(MethodNames, AreNoneInAProgramThatIsNoInterpreter) {
  const auto self = ElfFile::parse(MappedFile::open("/proc/self/exe").value());
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(find_method_names(*self.value()).empty());
}

}  // namespace
}  // namespace lumbre
