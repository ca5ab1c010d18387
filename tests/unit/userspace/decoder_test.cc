#include "userspace/decode/decoder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace lumbre {
namespace {

template <typename T>
std::unique_ptr<T> make_record(std::uint16_t kind, std::uint64_t time_ns, std::uint32_t cpu) {
  auto record = std::make_unique<T>();
  std::memset(record.get(), 0, sizeof(T));
  record->header = {LUMBRE_ABI_VERSION, kind, cpu, time_ns};
  return record;
}

template <typename T>
std::span<const std::byte> bytes_of(const T& record) {
  return std::as_bytes(std::span(&record, 1));
}

class DecoderTest : public ::testing::Test {
 protected:
  void add_sample(std::uint64_t time_ns, std::uint32_t cpu, std::uint32_t stack_chunks,
                  std::uint32_t python_chunks, std::uint32_t kernel_frames) {
    auto sample = make_record<lumbre_sample>(LUMBRE_RECORD_SAMPLE, time_ns, cpu);
    sample->stack_chunks = stack_chunks;
    sample->python_chunks = python_chunks;
    sample->kernel_frames = kernel_frames;
    decoder_.add(bytes_of(*sample), events_);
  }
  void add_chunk(std::uint64_t time_ns, std::uint32_t cpu, std::uint64_t address,
                 std::uint32_t size_bytes) {
    auto chunk = make_record<lumbre_stack_chunk>(LUMBRE_RECORD_STACK_CHUNK, time_ns, cpu);
    chunk->address = address;
    chunk->size_bytes = size_bytes;
    decoder_.add(bytes_of(*chunk), events_);
  }

  Decoder decoder_;
  std::vector<Event> events_;
};

TEST_F(DecoderTest, HoldsASampleUntilItsLastPieceHasCome) {
  add_sample(10, 0, 2, 0, 0);
  add_chunk(10, 0, 0x7000, 0x1000);
  EXPECT_TRUE(events_.empty());
  add_chunk(10, 0, 0x8000, 0x100);
  ASSERT_EQ(events_.size(), 1u);
  const auto& sample = std::get<StackSample>(events_[0]);
  EXPECT_EQ(sample.stack_start, 0x7000u);
  EXPECT_EQ(sample.stack.size(), 0x1100u);
}

TEST_F(DecoderTest, KeepsSamplesOfOneTimeOnTwoCpusApart) {
  add_sample(10, 0, 1, 0, 0);
  add_sample(10, 1, 1, 0, 0);
  add_chunk(10, 1, 0x9000, 16);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(std::get<StackSample>(events_[0]).sample.header.cpu, 1u);
}

TEST_F(DecoderTest, GivesAWaitingSampleOutAtTheEnd) {
  add_sample(10, 0, 2, 0, 0);
  add_chunk(10, 0, 0x7000, 0x1000);
  decoder_.flush(events_);
  ASSERT_EQ(events_.size(), 1u);
}

TEST_F(DecoderTest, RefusesARecordOfAnotherVersionAndAShortOne) {
  auto sample = make_record<lumbre_sample>(LUMBRE_RECORD_SAMPLE, 1, 0);
  sample->header.version = LUMBRE_ABI_VERSION + 1;
  decoder_.add(bytes_of(*sample), events_);
  sample->header.version = LUMBRE_ABI_VERSION;
  decoder_.add(bytes_of(*sample).first(40), events_);
  EXPECT_TRUE(events_.empty());
  EXPECT_EQ(decoder_.malformed_records(), 2u);
}

TEST_F(DecoderTest, KeepsAnUnreadablePageBetweenTwoChunksAsAHole) {
  add_sample(10, 0, 2, 0, 0);
  add_chunk(10, 0, 0x7000, 0x1000);
  add_chunk(10, 0, 0x9000, 0x1000);
  ASSERT_EQ(events_.size(), 1u);
  const auto& sample = std::get<StackSample>(events_[0]);
  EXPECT_EQ(sample.stack.size(), 0x3000u);
  ASSERT_EQ(sample.stack_holes.size(), 1u);
  EXPECT_EQ(sample.stack_holes[0], (std::pair<std::uint64_t, std::uint64_t>{0x8000, 0x9000}));
}

TEST_F(DecoderTest, RefusesAChunkThatDoesNotFollowTheOneBefore) {
  add_sample(10, 0, 2, 0, 0);
  add_chunk(10, 0, 0x7000, 0x1000);
  add_chunk(10, 0, 0x6000, 0x1000);
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(std::get<StackSample>(events_[0]).stack.size(), 0x1000u);
  EXPECT_EQ(decoder_.malformed_records(), 1u);
}

TEST_F(DecoderTest, ReadsPythonFramesOverSeveralChunks) {
  add_sample(10, 0, 0, 2, 0);
  for (std::uint32_t count : {32u, 3u}) {
    auto chunk = make_record<lumbre_python_chunk>(LUMBRE_RECORD_PYTHON_CHUNK, 10, 0);
    chunk->count = count;
    decoder_.add(bytes_of(*chunk), events_);
  }
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(std::get<StackSample>(events_[0]).python.size(), 35u);
}

}  // namespace
}  // namespace lumbre
