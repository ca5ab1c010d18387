#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "output/formats.h"
#include "output/gzip.h"
#include "output/proto_writer.h"
#include "output/utf8.h"
#include "tests/unit/output/formats_sample.h"

namespace lumbre::output {
namespace {

std::string plain_pprof(const Profile& profile) {
  return gunzip(pprof_bytes(profile), std::size_t{1} << 30, nullptr).value_or("");
}

std::string read_error(std::string_view bytes) {
  std::string error;
  return read_pprof(bytes, &error).has_value() ? "read" : error;
}

TEST(Pprof, ARoundTripKeepsEverythingAndEveryKind) {
  const Profile profile = make_sample_profile();
  std::string error;
  const std::optional<Profile> read = read_pprof(pprof_bytes(profile), &error);
  ASSERT_TRUE(read.has_value()) << error;
  EXPECT_EQ(describe(*read), describe(profile));
  EXPECT_EQ(check_profile(*read), "");
}

TEST(Pprof, PlainBytesAreReadAsWellAsCompressedOnes) {
  const Profile profile = make_sample_profile();
  const std::optional<Profile> read = read_pprof(plain_pprof(profile), nullptr);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(describe(*read), describe(profile));
}

TEST(Pprof, TheSameProfileGivesTheSameBytes) {
  EXPECT_EQ(pprof_bytes(make_sample_profile()), pprof_bytes(make_sample_profile()));
}

TEST(Pprof, IllFormedNamesAreRepairedAndOthersKept) {
  const std::vector<std::string> names = {"a;b \"q\" \\ \n", std::string("nul\0x", 5), "bad\xFF"};
  const std::optional<Profile> read = read_pprof(pprof_bytes(make_stack_profile(names)), nullptr);
  ASSERT_TRUE(read.has_value());
  const auto name_of = [&](std::size_t from_leaf) {
    const Location& location = read->locations[read->samples[0].locations[from_leaf]];
    return read->text(read->functions[location.lines[0].function].name);
  };
  EXPECT_EQ(name_of(2), names[0]);
  EXPECT_EQ(name_of(1), names[1]);
  EXPECT_EQ(name_of(0), "bad\xEF\xBF\xBD");
}

TEST(Pprof, AnEmptyRecordingIsAValidFile) {
  Profile profile = make_sample_profile();
  profile.samples.clear();
  const std::optional<Profile> read = read_pprof(pprof_bytes(profile), nullptr);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->samples.empty());
  EXPECT_EQ(read->sample_types.size(), 2u);
}

TEST(Pprof, AFailedStreamIsReported) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(write_pprof(make_sample_profile(), out));
  EXPECT_FALSE(write_folded(make_sample_profile(), 0, out));
  EXPECT_FALSE(write_speedscope(make_sample_profile(), 0, "t", out));
}

// What another producer may do: sparse ids, unpacked numbers, the string table first, no mapping.
TEST(Pprof, SparseIdsAndUnpackedNumbersAreRead) {
  ProtoWriter profile, message, line;
  for (const char* text : {"", "cpu", "ns", "leaf", "lib.py"}) profile.bytes(6, text);
  message.uint(1, 1);
  message.uint(2, 2);
  profile.message(1, message);
  message.clear();
  message.uint(1, 1'000'000'000'000);  // a location before its function
  line.uint(1, 77);
  line.uint(2, 5);
  message.message(4, line);
  profile.message(4, message);
  message.clear();
  message.uint(1, 77);
  message.uint(2, 3);
  message.uint(4, 4);
  profile.message(5, message);
  message.clear();
  message.uint(1, 1'000'000'000'000);
  message.integer(2, -8);
  profile.message(2, message);
  std::string error;
  const std::optional<Profile> read = read_pprof(profile.data(), &error);
  ASSERT_TRUE(read.has_value()) << error;
  EXPECT_EQ(folded_text(*read), "leaf -8\n");
  EXPECT_EQ(read->locations[0].kind, FrameKind::kPython);
  EXPECT_EQ(read->find_sample_type(""), 0u);
}

TEST(Pprof, BadInputIsRefusedWithAReason) {
  const std::string start = "not a readable pprof profile: ";
  EXPECT_EQ(read_error(""), start + "it is empty");
  EXPECT_EQ(read_error("main;f 12\n"), start + "a field is damaged or cut off");
  EXPECT_EQ(read_error(pprof_bytes(make_sample_profile()).substr(0, 200)),
            start + "the gzip data ends early");
  EXPECT_EQ(read_error(std::string("\x32\x01z", 3)),
            start + "the first string of its table is not empty");
  EXPECT_EQ(read_error(std::string("\x48\x05", 2)), start + "it has no string table");
}

TEST(Pprof, ASampleThatDoesNotFitTheTablesIsRefused) {
  ProtoWriter sample;
  sample.uint(1, 9);
  ProtoWriter profile;
  profile.bytes(6, "");
  profile.message(2, sample);
  EXPECT_NE(read_error(profile.data()).find("a location that is not there"), std::string::npos);
  sample.clear();
  sample.uint(2, 9);
  profile.clear();
  profile.bytes(6, "");
  profile.message(2, sample);
  EXPECT_NE(read_error(profile.data()).find("more values than"), std::string::npos);
}

TEST(Gzip, StopsAtTheLimitHoweverMuchTheDataWouldInflateTo) {
  std::ostringstream out;
  GzipWriter writer(out);
  const std::string zeros(1 << 20, '\0');
  for (int i = 0; i < 32; ++i) ASSERT_TRUE(writer.write(zeros));
  ASSERT_TRUE(writer.finish());
  std::string error;
  EXPECT_FALSE(gunzip(out.str(), (32u << 20) - 1, &error).has_value());
  EXPECT_EQ(error, "it is too large once inflated");
  EXPECT_EQ(gunzip(out.str(), 32u << 20, &error).value_or("").size(), 32u << 20);
}

TEST(Gzip, SeveralMembersAreReadAsOneAndTrailingBytesIgnored) {
  const auto member = [](std::string_view text) {
    std::ostringstream out;
    GzipWriter writer(out);
    writer.write(text);
    writer.finish();
    return out.str();
  };
  EXPECT_EQ(gunzip(member("one ") + member("two") + "tail", 100, nullptr).value_or(""), "one two");
}

// Whatever was read must also be writable, as valid UTF-8.
void expect_writable(const Profile& profile) {
  std::ostringstream out;
  EXPECT_TRUE(write_pprof(profile, out));
  out.str("");
  EXPECT_TRUE(write_folded(profile, 0, out));
  EXPECT_TRUE(write_speedscope(profile, 0, "t", out));
  EXPECT_TRUE(is_valid_utf8(out.str()));
  check_profile(profile);
}

TEST(PprofHostile, EveryTruncationIsRefusedOrRead) {
  const std::string bytes = plain_pprof(make_sample_profile());
  const std::string compressed = pprof_bytes(make_sample_profile());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::optional<Profile> read = read_pprof(bytes.substr(0, length), nullptr);
    if (read.has_value()) expect_writable(*read);
  }
  for (std::size_t length = 0; length < compressed.size(); ++length) {
    EXPECT_FALSE(read_pprof(compressed.substr(0, length), nullptr).has_value()) << length;
  }
}

TEST(PprofHostile, EveryFlippedBitIsRefusedOrRead) {
  std::string bytes = plain_pprof(make_sample_profile());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const char flip = static_cast<char>(1 << (bit % 8));
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
    const std::optional<Profile> read = read_pprof(bytes, nullptr);
    if (read.has_value() && bit % 7 == 0) expect_writable(*read);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ flip);
  }
}

TEST(PprofHostile, RandomDamageIsRefusedOrRead) {
  const std::string bytes = plain_pprof(make_sample_profile());
  const std::string compressed = pprof_bytes(make_sample_profile());
  std::mt19937 random(20240501);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = round % 3 == 0 ? compressed : bytes;
    for (unsigned i = 0; i < 1 + random() % 8; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const std::optional<Profile> read = read_pprof(damaged, nullptr);
    if (read.has_value()) expect_writable(*read);
  }
}

}  // namespace
}  // namespace lumbre::output
