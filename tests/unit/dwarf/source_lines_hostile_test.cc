// Damaged debug sections must cost answers, not the process: run with sanitizers to learn more.
// LUMBRE_MUTATIONS=n tries n of them.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "source_lines_fixture.h"

namespace lumbre {
namespace {

constexpr char kProgram[] = R"(
namespace outer {
template <int N> struct Step {
  static inline int run(int x) { return Step<N - 1>::run(x * N + 1) ^ (x % 3 ? x : x / N); }
};
template <> struct Step<0> { static inline int run(int x) { return x; } };
namespace {
struct Box {
  int value;
  __attribute__((noinline)) int get(int n) const { return n > 2 ? Step<9>::run(value + n) : n; }
};
}
__attribute__((noinline, cold)) int rare(int n) { return Step<5>::run(n); }
int use(int n) { return Box{n}.get(n) + (n == 77 ? rare(n) : Step<3>::run(n)); }
}
int main(int n, char**) { return outer::use(n); }
)";

int mutation_count() {
  const char* text = std::getenv("LUMBRE_MUTATIONS");
  return text == nullptr ? 300 : std::atoi(text);
}

// Where .debug_* sections lie in the file.
std::vector<std::pair<std::size_t, std::size_t>> debug_parts(const ElfFile& file) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (const ElfFile::Section& section : file.sections()) {
    if (section.name.starts_with(".debug_") && !section.bytes.empty()) {
      parts.emplace_back(static_cast<std::size_t>(section.bytes.data() - file.bytes().data()),
                         section.bytes.size());
    }
  }
  return parts;
}

class Mutator {
 public:
  Mutator(const std::string& original, std::vector<std::pair<std::size_t, std::size_t>> parts)
      : original_(original), parts_(std::move(parts)) {}

  std::string mutate(unsigned seed) {
    engine_.seed(seed + 1);
    std::string bytes = original_;
    for (std::size_t i = 1 + pick(12); i > 0; --i) {
      const auto [offset, size] = parts_[pick(parts_.size())];
      bytes[offset + pick(size)] = interesting();
    }
    return bytes;
  }

 private:
  std::size_t pick(std::size_t below) { return engine_() % below; }
  char interesting() {
    static constexpr unsigned char kValues[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0x10, 0x1d, 0x2e};
    return static_cast<char>(pick(2) == 0 ? kValues[pick(8)] : pick(256));
  }

  const std::string& original_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;
  std::minstd_rand engine_;
};

std::size_t ask(std::string bytes, const std::vector<std::uint64_t>& addresses) {
  const auto file = ElfFile::parse(MappedFile::from_bytes(std::move(bytes)));
  std::size_t frames = 0;
  if (file.has_value()) {
    const SourceLines lines(*file);
    for (const std::uint64_t address : addresses) {
      frames += lines.find(ImageAddress{address}).size();
    }
  }
  return frames;
}

class DamagedDebugInfo : public ::testing::TestWithParam<const char*> {};

TEST_P(DamagedDebugInfo, CostsAnswersAndNotTheProcess) {
  BuildFolder folder;
  if (!folder.run(std::string("cat >a.cc <<'END'\n") + kProgram + "END\n" + GetParam() +
                  " -o program a.cc")) {
    GTEST_SKIP() << GetParam() << " does not build: " << folder.errors();
  }
  const auto file = open_elf(folder.path() + "/program");
  ASSERT_NE(file, nullptr);
  const std::string original = read_text(folder.path() + "/program");
  const auto addresses = text_addresses(*file, 60);
  const std::size_t whole = ask(original, addresses);
  EXPECT_GT(whole, 0u);

  Mutator mutator(original, debug_parts(*file));
  const auto start = std::chrono::steady_clock::now();
  const int count = mutation_count();
  for (int i = 0; i < count; ++i) {
    // A circle of origins or a deep tree is cut, so that no answer grows without bound.
    EXPECT_LT(ask(mutator.mutate(static_cast<unsigned>(i)), addresses), 100 * whole);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100 * count));
}

INSTANTIATE_TEST_SUITE_P(Compilers, DamagedDebugInfo,
                         ::testing::Values("g++ -O2 -gdwarf-5", "g++ -O2 -gdwarf-4",
                                           "g++ -O2 -gdwarf-2", "clang++ -O2 -gdwarf-5",
                                           "clang++ -O2 -gdwarf-4"));

TEST(TruncatedDebugInfo, CostsAnswersAndNotTheProcess) {
  BuildFolder folder;
  ASSERT_TRUE(folder.run("echo 'int main(void) { return 0; }' >a.c && gcc -g -o program a.c"));
  const auto file = open_elf(folder.path() + "/program");
  ASSERT_NE(file, nullptr);
  const std::string original = read_text(folder.path() + "/program");
  const auto addresses = text_addresses(*file, 20);
  for (const auto& [offset, size] : debug_parts(*file)) {
    for (std::size_t kept = 0; kept < size; kept += 1 + size / 64) {
      std::string bytes = original;
      bytes.replace(offset + kept, size - kept, size - kept, '\xff');
      ask(std::move(bytes), addresses);
    }
  }
}

}  // namespace
}  // namespace lumbre
