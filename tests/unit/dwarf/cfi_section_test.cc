#include "symbolizer/dwarf/cfi_section.h"

#include <gtest/gtest.h>

#include "tests/unit/dwarf/cfi_bytes.h"

namespace lumbre {
namespace {

constexpr auto kEhFrame = CfiSection::Kind::kEhFrame;
constexpr auto kDebugFrame = CfiSection::Kind::kDebugFrame;

TEST(CfiSection, RelativeAddressesCountFromTheirPlace) {
  CfiBytes bytes;
  bytes.entry(CfiBytes()
                  .put<std::uint32_t>(0)
                  .raw({1})
                  .text("zR")
                  .raw({1, 0x78, 16, 1, 0x1b})
                  .raw({0x0c, 7, 8}));
  const std::size_t offset = bytes.size();
  bytes.entry(CfiBytes()
                  .put(static_cast<std::uint32_t>(offset + 4))
                  .put<std::int32_t>(-0x100)
                  .put<std::uint32_t>(0x20)
                  .raw({0}));
  PointerBases bases;
  bases.section_address = 0x4000;
  CfiSection section(kEhFrame, bytes.span(), bases);
  const auto fde = section.parse_fde(offset);
  ASSERT_TRUE(fde.has_value());
  EXPECT_EQ(fde->start.value, 0x4000 + offset + 8 - 0x100);
  EXPECT_EQ(fde->end.value, fde->start.value + 0x20);
}

TEST(CfiSection, EveryAugmentationOfPracticeIsRead) {
  CfiBytes bytes;
  bytes.entry(CfiBytes()
                  .put<std::uint32_t>(0)
                  .raw({1})
                  .text("zPLRS")
                  .raw({1, 0x78, 16, 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x00})
                  .raw({0x0c, 7, 8}));
  const std::size_t offset = bytes.size();
  bytes.entry(CfiBytes()
                  .put(static_cast<std::uint32_t>(offset + 4))
                  .put<std::uint64_t>(0x1000)
                  .put<std::uint64_t>(0x10)
                  .raw({4, 1, 2, 3, 4})
                  .raw({0x41}));
  CfiSection section(kEhFrame, bytes.span(), {});
  const auto fde = section.parse_fde(offset);
  ASSERT_TRUE(fde.has_value());
  EXPECT_TRUE(fde->common->is_signal_frame);
  EXPECT_EQ(fde->instructions.size(), 1u);
}

TEST(CfiSection, OldEhAugmentationHasOneWordMore) {
  CfiBytes bytes;
  bytes.entry(CfiBytes().put<std::uint32_t>(0).raw({1}).text("eh").put<std::uint64_t>(0x1234).raw(
      {1, 0x78, 16, 0x0c, 7, 8}));
  const std::size_t offset = bytes.size();
  bytes.entry(usual_fde(offset, 0x1000, 0x10, {}));
  CfiSection section(kEhFrame, bytes.span(), {});
  ASSERT_TRUE(section.parse_fde(offset).has_value());
  EXPECT_EQ(section.parse_fde(offset)->common->instructions.size(), 3u);
}

TEST(CfiSection, DebugFrameVersion4In64BitFormat) {
  const auto cie =
      CfiBytes().put(~std::uint64_t{0}).raw({4}).text("").raw({8, 2, 1, 0x78, 16, 0x0c, 7, 8});
  CfiBytes bytes;
  bytes.put<std::uint32_t>(0xffffffff).put<std::uint64_t>(cie.size()).append(cie);
  const std::size_t offset = bytes.size();
  const auto fde = CfiBytes()
                       .put<std::uint64_t>(0)
                       .put<std::uint16_t>(0)  // segment
                       .put<std::uint64_t>(0x1000)
                       .put<std::uint64_t>(0x30);
  bytes.put<std::uint32_t>(0xffffffff).put<std::uint64_t>(fde.size()).append(fde);
  CfiSection section(kDebugFrame, bytes.span(), {});
  const auto parsed = section.parse_fde(offset);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->start.value, 0x1000u);
  EXPECT_EQ(parsed->end.value, 0x1030u);
}

TEST(CfiSection, IndexSkipsBrokenEntriesAndRemovedFunctions) {
  CfiBytes bytes;
  bytes.entry(usual_cie());
  bytes.entry(usual_fde(bytes.size(), 0x2000, 0x10, {}));
  bytes.entry(CfiBytes().put<std::uint32_t>(0x7fffffff).put<std::uint64_t>(1));  // no such CIE
  bytes.entry(usual_fde(bytes.size(), 0, 0x10, {}));
  bytes.entry(CfiBytes().raw({1}));
  bytes.put<std::uint32_t>(0);  // crtend.o in the middle
  bytes.entry(usual_fde(bytes.size(), 0x1000, 0x10, {}));
  CfiSection section(kEhFrame, bytes.span(), {});
  const auto index = section.index_all();
  ASSERT_EQ(index.size(), 2u);
  EXPECT_EQ(index[0].start, 0x1000u);
  EXPECT_EQ(index[1].start, 0x2000u);
}

TEST(CfiSection, UnknownVersionOrAugmentationIsRefused) {
  for (const char* augmentation : {"zQ", "armcc+"}) {
    CfiBytes bytes;
    bytes.entry(
        CfiBytes().put<std::uint32_t>(0).raw({1}).text(augmentation).raw({1, 0x78, 16, 1, 0}));
    const std::size_t offset = bytes.size();
    bytes.entry(usual_fde(offset, 0x1000, 0x10, {}));
    CfiSection section(kEhFrame, bytes.span(), {});
    EXPECT_FALSE(section.parse_fde(offset).has_value()) << augmentation;
  }
}

}  // namespace
}  // namespace lumbre
