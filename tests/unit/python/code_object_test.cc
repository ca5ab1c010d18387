#include "symbolizer/python/code_object.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "symbolizer/python/layouts.h"

namespace lumbre {
namespace {

template <typename Unit>
std::string decode(std::basic_string_view<Unit> units) {
  return decode_unicode(std::as_bytes(std::span(units)), sizeof(Unit));
}

TEST(DecodeUnicode, ReadsEveryWidthOfStr) {
  EXPECT_EQ(decode<char>("gr\xf6\xdf"), "gr\u00f6\u00df");
  EXPECT_EQ(decode<char16_t>(u"\u95a2\u6570\u03bbx"), "\u95a2\u6570\u03bbx");
  EXPECT_EQ(decode<char32_t>(U"\U00010400\u20acx"), "\U00010400\u20acx");
}

TEST(DecodeUnicode, TakesKindZeroAsAscii) {
  EXPECT_EQ(decode_unicode(std::as_bytes(std::span(std::string_view("step"))), 0), "step");
}

TEST(DecodeUnicode, ReplacesSurrogatesAndWhatIsBeyondUnicode) {
  const char16_t lone[] = {'a', 0xdc80, 'b'};
  EXPECT_EQ(decode<char16_t>({lone, 3}),
            "a\ufffd"
            "b");
  const char32_t beyond[] = {0x110000, 0xffffffff};
  EXPECT_EQ(decode<char32_t>({beyond, 2}), "\ufffd\ufffd");
}

TEST(DecodeUnicode, LeavesOutAUnitThatWasCutShort) {
  EXPECT_EQ(decode_unicode(std::as_bytes(std::span(std::string_view("a\0b", 3))), 2), "a");
}

TEST(DecodeUnicode, IsEmptyForAWidthThatStrDoesNotHave) {
  EXPECT_EQ(decode_unicode(std::as_bytes(std::span(std::string_view("step"))), 3), "");
}

TEST(InstructionOffset, FollowsWhatEachVersionKeepsInItsFrames) {
  const auto in_3_8 = layout_of_version({3, 8, 0, false}).value();
  const auto in_3_10 = layout_of_version({3, 10, 0, false}).value();
  const auto in_3_11 = layout_of_version({3, 11, 0, false}).value();
  EXPECT_EQ(instruction_offset(in_3_8, 0x1000, 0xabcd00000010), 16);  // an int, 4 bytes
  EXPECT_EQ(instruction_offset(in_3_8, 0x1000, 0xffffffff), -1);
  EXPECT_EQ(instruction_offset(in_3_10, 0x1000, 8), 16);
  EXPECT_EQ(instruction_offset(in_3_11, 0x1000, 0x1000 + 184 + 16), 16);
  EXPECT_EQ(instruction_offset(in_3_11, 0x1000, 0x1000 + 184 - 2), -2);
}

TEST(IsInterpreterInternal, TellsTheSpecialisedConstructorsFrameFromAProgramsInit) {
  PythonCode code;
  code.version = 0x030d;
  code.name = "__init__";
  code.filename = "__init__";
  EXPECT_TRUE(is_interpreter_internal(code));
  code.first_line = 1;
  EXPECT_FALSE(is_interpreter_internal(code));
}

// Memory of one buffer at a known address; anything else is a fault.
class BufferMemory : public ProcessMemory {
 public:
  static constexpr std::uint64_t kBase = 0x10000;
  template <typename T>
  void put(std::uint64_t address, const T& value) {
    std::memcpy(bytes_.data() + (address - kBase), &value, sizeof value);
  }
  Result<void> read(ProcessAddress address, std::span<std::byte> into) const override {
    if (address.value < kBase || address.value - kBase > bytes_.size() ||
        bytes_.size() - (address.value - kBase) < into.size()) {
      return Error::system(EFAULT, "read");
    }
    std::memcpy(into.data(), bytes_.data() + (address.value - kBase), into.size());
    return {};
  }

 private:
  std::string bytes_ = std::string(0x8000, 'x');
};

class ReadCodeObject : public ::testing::Test {
 protected:
  void SetUp() override {
    memory_.put<std::uint32_t>(kCode + layout_.code_first_line, 7);
    memory_.put(kCode + layout_.code_name, kText);
    memory_.put(kCode + layout_.code_filename, kText);
    memory_.put(kCode + layout_.code_line_table, kTable);
    put_text(3, 1u << 2 | 1u << 5 | 1u << 6);
    memory_.put<std::uint64_t>(kTable + layout_.bytes_size, 4);
  }
  void put_text(std::uint64_t length, std::uint32_t state) {
    memory_.put(kText + layout_.unicode_length, length);
    memory_.put(kText + layout_.unicode_state, state);
  }

  const std::uint64_t kCode = BufferMemory::kBase, kText = kCode + 0x1000, kTable = kCode + 0x3000;
  lumbre_python_layout layout_ = layout_of_version({3, 12, 0, false}).value();
  BufferMemory memory_;
};

TEST_F(ReadCodeObject, GivesNamesFirstLineAndLineTable) {
  const auto code = read_code_object(memory_, {kCode}, layout_);
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_EQ(code->name, "xxx");
  EXPECT_EQ(code->first_line, 7u);
  EXPECT_EQ(code->line_table, "xxxx");
  EXPECT_EQ(code->version, 0x030cu);
}

TEST_F(ReadCodeObject, BoundsALengthThatTheTargetMadeUp) {
  put_text(~std::uint64_t{0}, 1u << 2 | 1u << 5 | 1u << 6);
  const auto code = read_code_object(memory_, {kCode}, layout_);
  ASSERT_TRUE(code.has_value()) << code.error().message;
  EXPECT_EQ(code->name.size(), 4096u);
}

TEST_F(ReadCodeObject, FailsOnALineTableThatIsNotThere) {
  memory_.put<std::uint64_t>(kTable + layout_.bytes_size, ~std::uint64_t{0});
  EXPECT_FALSE(read_code_object(memory_, {kCode}, layout_).has_value());
}

TEST_F(ReadCodeObject, RefusesAStrWithoutAKnownWidth) {
  put_text(3, 3u << 2 | 1u << 5);
  const auto code = read_code_object(memory_, {kCode}, layout_);
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().kind, ErrorKind::kUnsupported);
}

}  // namespace
}  // namespace lumbre
