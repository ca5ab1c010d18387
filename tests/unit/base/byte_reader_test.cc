#include "symbolizer/base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>

namespace lumbre {
namespace {

template <std::size_t N>
std::span<const std::byte> view(const std::array<std::uint8_t, N>& bytes) {
  return std::as_bytes(std::span(bytes));
}

TEST(ByteReader, ReadsLebNumbersOfTheDwarfStandardsExamples) {
  const std::array<std::uint8_t, 7> bytes = {0x80, 0x01, 0xe5, 0x8e, 0x26, 0x80, 0x7f};
  ByteReader reader(view(bytes));
  EXPECT_EQ(reader.uleb128(), 128u);
  EXPECT_EQ(reader.uleb128(), 624485u);
  EXPECT_EQ(reader.sleb128(), -128);
  EXPECT_TRUE(reader.is_at_end());
  EXPECT_FALSE(reader.is_failed());
}

TEST(ByteReader, FailsOnceAndStaysAtTheEnd) {
  const std::array<std::uint8_t, 3> bytes = {1, 2, 3};
  ByteReader reader(view(bytes));
  EXPECT_EQ(reader.u32(), 0u);
  EXPECT_TRUE(reader.is_failed());
  EXPECT_EQ(reader.u8(), 0u);
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, StopsAtAnUnendedLebNumber) {
  const std::array<std::uint8_t, 2> bytes = {0xff, 0xff};
  ByteReader reader(view(bytes));
  reader.uleb128();
  EXPECT_TRUE(reader.is_failed());
}

TEST(ByteReader, RefusesAStringWithoutItsZero) {
  const std::array<std::uint8_t, 6> bytes = {'a', 'b', 0, 'c', 'd', 'e'};
  ByteReader reader(view(bytes));
  EXPECT_EQ(reader.c_string(), "ab");
  EXPECT_EQ(reader.c_string(), "");
  EXPECT_TRUE(reader.is_failed());
}

}  // namespace
}  // namespace lumbre
