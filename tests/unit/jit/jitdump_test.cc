#include "symbolizer/jit/jitdump.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace lumbre {
namespace {

constexpr std::uint64_t kNow = 1'000'000;

class Writer {
 public:
  template <typename T>
  Writer& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Writer& u32(std::uint32_t value) { return put(value); }
  Writer& u64(std::uint64_t value) { return put(value); }
  Writer& text(std::string_view text) {
    bytes_ += text;
    bytes_ += '\0';
    return *this;
  }
  Writer& raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string header(std::uint64_t flags = 0) {
  return Writer().u32(0x4A695444).u32(1).u32(40).u32(62).u32(0).u32(7).u64(0).u64(flags).bytes();
}
std::string record(std::uint32_t id, std::uint64_t time_ns, const Writer& body) {
  const auto size = static_cast<std::uint32_t>(16 + body.bytes().size());
  return Writer().u32(id).u32(size).u64(time_ns).raw(body.bytes()).bytes();
}
std::string load(std::uint64_t time_ns, std::uint64_t start, const std::string& name,
                 const std::string& code = std::string(64, '\x90')) {
  Writer body;
  body.u32(7).u32(7).u64(start).u64(start).u64(code.size()).u64(0).text(name).raw(code);
  return record(0, time_ns, body);
}

class JitdumpTest : public ::testing::Test {
 protected:
  // As a reader of a file does it.
  void read(const std::string& file, std::size_t window = 1 << 20) {
    for (;;) {
      const auto at = parser_.wanted_offset();
      if (at >= file.size()) {
        return;
      }
      const std::string part = file.substr(at, window);
      if (!parser_.feed(std::as_bytes(std::span(part)), kNow)) {
        return;
      }
    }
  }
  std::string name_at(std::uint64_t address, std::uint64_t time_ns = kNow) {
    const JitFunction* found = functions_.find({address}, time_ns);
    return found == nullptr ? "" : found->name;
  }

  JitFunctions functions_;
  JitdumpParser parser_{functions_};
};

TEST_F(JitdumpTest, NamesAFunctionFromItsTimeOn) {
  read(header() + load(100, 0x1000, "first") + load(200, 0x1000, "second"));
  EXPECT_EQ(parser_.pid(), 7U);
  EXPECT_EQ(name_at(0x1020, 99), "");
  EXPECT_EQ(name_at(0x1020, 150), "first");
  EXPECT_EQ(name_at(0x1020, 250), "second");
}

TEST_F(JitdumpTest, PutsTheLinesToTheFunctionThatFollows) {
  Writer lines;
  lines.u64(0x1000).u64(2).u64(0x1000).u32(3).u32(0).text("a.js");
  lines.u64(0x1010).u32(4).u32(0).text("\xff");
  read(header() + record(2, 50, lines) + load(100, 0x1000, "f"));
  const JitFunction* found = functions_.find({0x1018}, kNow);
  ASSERT_NE(found, nullptr);
  ASSERT_NE(found->line_at({0x1018}), nullptr);
  EXPECT_EQ(found->line_at({0x1018})->line, 4U);
  EXPECT_EQ(found->debug->files[found->line_at({0x1018})->file], "a.js");
}

TEST_F(JitdumpTest, KeepsTheFrameEntriesWithoutTheirSearchTable) {
  Writer unwinding;
  unwinding.u64(12).u64(4).u64(0).raw("EHFRAMES").raw("TABL").raw("padd");
  read(header() + record(4, 50, unwinding) + load(100, 0x1000, "f") + load(100, 0x2000, "g"));
  const JitFunction* found = functions_.find({0x1000}, kNow);
  ASSERT_NE(found, nullptr);
  ASSERT_NE(found->debug, nullptr);
  EXPECT_EQ(found->debug->eh_frame.size(), 8U);
  EXPECT_EQ(functions_.find({0x2000}, kNow)->debug, nullptr);
}

TEST_F(JitdumpTest, FollowsAMove) {
  Writer move;
  move.u32(7).u32(7).u64(0x5000).u64(0x1000).u64(0x5000).u64(64).u64(0);
  read(header() + load(100, 0x1000, "f") + record(1, 200, move));
  EXPECT_EQ(name_at(0x1008, 150), "f");
  EXPECT_EQ(name_at(0x1008, 250), "");
  EXPECT_EQ(name_at(0x5008, 250), "f");
}

TEST_F(JitdumpTest, WaitsForTheRestOfAFileThatGrows) {
  const std::string file = header() + load(100, 0x1000, "f") + load(100, 0x2000, "g");
  for (std::size_t size = 0; size <= file.size(); ++size) {
    read(file.substr(0, size));
  }
  EXPECT_EQ(name_at(0x1000), "f");
  EXPECT_EQ(name_at(0x2000), "g");
  EXPECT_EQ(functions_.size(), 2U);
}

TEST_F(JitdumpTest, PassesOverCodeThatIsLargerThanWhatItIsFed) {
  read(header() + load(100, 0x1000, "f", std::string(3 << 20, 'x')) + load(100, 0x900000, "g"));
  EXPECT_EQ(name_at(0x900000), "g");
}

TEST_F(JitdumpTest, DoesNotTrustTimesOfAnotherClock) {
  read(header(1) + load(kNow - 5, 0x1000, "f"));
  EXPECT_EQ(name_at(0x1000, 1), "f");
  JitFunctions functions;
  JitdumpParser parser(functions);
  const std::string file = header() + load(kNow * 1000, 0x1000, "f");
  parser.feed(std::as_bytes(std::span(file)), kNow);
  EXPECT_NE(functions.find({0x1000}, 1), nullptr);
}

TEST_F(JitdumpTest, StopsAtARecordThatContradictsItself) {
  read(header() + Writer().u32(0).u32(3).u64(0).bytes() + load(100, 0x1000, "f"));
  EXPECT_TRUE(parser_.is_malformed());
  EXPECT_EQ(functions_.size(), 0U);
}

TEST_F(JitdumpTest, RefusesAnotherFile) {
  read(
      "\x7f"
      "ELF" +
      std::string(100, 'x'));
  EXPECT_TRUE(parser_.is_malformed());
}

TEST_F(JitdumpTest, SurvivesBytesTurnedAtRandom) {
  Writer lines;
  lines.u64(0x1000).u64(1).u64(0x1000).u32(3).u32(0).text("a.js");
  Writer unwinding;
  unwinding.u64(12).u64(4).u64(0).raw("EHFRAMES").raw("TABL");
  const std::string good =
      header() + record(2, 1, lines) + record(4, 1, unwinding) + load(100, 0x1000, "f");
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    JitFunctions functions;
    JitdumpParser parser(functions);
    parser.feed(std::as_bytes(std::span(bad)), kNow);
    EXPECT_LE(functions.size(), 1U);
  }
}

}  // namespace
}  // namespace lumbre
