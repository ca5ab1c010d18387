#include "symbolizer/procfs/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace lumbre {
namespace {

ProcessAddress address_of(const void* pointer) {
  return ProcessAddress{reinterpret_cast<std::uint64_t>(pointer)};
}

TEST(LiveProcessMemory, ReadsWhatIsThere) {
  const std::uint64_t value = 0x1122334455667788;
  const auto read = LiveProcessMemory(::getpid()).read_value<std::uint64_t>(address_of(&value));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, value);
}

TEST(LiveProcessMemory, ReadsAllOrFails) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ::munmap(static_cast<char*>(pages) + page, page);
  const LiveProcessMemory memory(::getpid());
  std::string bytes(page, 'x');
  const auto into = std::as_writable_bytes(std::span(bytes));
  EXPECT_TRUE(memory.read(address_of(pages), into).has_value());
  const auto across = memory.read(address_of(static_cast<char*>(pages) + page / 2), into);
  ASSERT_FALSE(across.has_value());
  EXPECT_EQ(across.error().system_errno, EFAULT);
  ::munmap(pages, page);
}

TEST(LiveProcessMemory, FailsForNoSuchProcess) {
  const auto read = LiveProcessMemory(1 << 30).read_value<int>(ProcessAddress{4096});
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().kind, ErrorKind::kNotFound);
}

TEST(LiveProcessMemory, ReadsNothingFromNowhere) {
  EXPECT_TRUE(LiveProcessMemory(::getpid()).read(ProcessAddress{0}, {}).has_value());
  EXPECT_FALSE(LiveProcessMemory(::getpid()).read_value<int>(ProcessAddress{0}).has_value());
}

}  // namespace
}  // namespace lumbre
