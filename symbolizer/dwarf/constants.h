// The DWARF 2-5 codes that the source-line reader knows, under their standard names (DWARF 5,
// section 7; the GNU ones from the GCC wiki's DWARF extensions). Others are skipped by their form.
#pragma once

#include <cstdint>

namespace lumbre::dwarf {

namespace tag {
inline constexpr std::uint16_t kClassType = 0x02, kEnumerationType = 0x04, kCompileUnit = 0x11,
                               kStructureType = 0x13, kUnionType = 0x17, kInlinedSubroutine = 0x1d,
                               kModule = 0x1e, kSubprogram = 0x2e, kInterfaceType = 0x38,
                               kNamespace = 0x39, kSkeletonUnit = 0x4a;
}  // namespace tag

namespace at {
inline constexpr std::uint16_t kSibling = 0x01, kName = 0x03, kStmtList = 0x10, kLowPc = 0x11,
                               kHighPc = 0x12, kLanguage = 0x13, kCompDir = 0x1b,
                               kAbstractOrigin = 0x31, kDeclLine = 0x3b, kSpecification = 0x47,
                               kRanges = 0x55, kCallColumn = 0x57, kCallFile = 0x58,
                               kCallLine = 0x59, kLinkageName = 0x6e, kStrOffsetsBase = 0x72,
                               kAddrBase = 0x73, kRnglistsBase = 0x74, kDwoName = 0x76,
                               kMipsLinkageName = 0x2007, kGnuDwoName = 0x2130,
                               kGnuAddrBase = 0x2133;
}  // namespace at

namespace form {
inline constexpr std::uint16_t kAddr = 0x01, kBlock2 = 0x03, kBlock4 = 0x04, kData2 = 0x05,
                               kData4 = 0x06, kData8 = 0x07, kString = 0x08, kBlock = 0x09,
                               kBlock1 = 0x0a, kData1 = 0x0b, kFlag = 0x0c, kSdata = 0x0d,
                               kStrp = 0x0e, kUdata = 0x0f, kRefAddr = 0x10, kRef1 = 0x11,
                               kRef2 = 0x12, kRef4 = 0x13, kRef8 = 0x14, kRefUdata = 0x15,
                               kIndirect = 0x16, kSecOffset = 0x17, kExprloc = 0x18,
                               kFlagPresent = 0x19, kStrx = 0x1a, kAddrx = 0x1b, kRefSup4 = 0x1c,
                               kStrpSup = 0x1d, kData16 = 0x1e, kLineStrp = 0x1f, kRefSig8 = 0x20,
                               kImplicitConst = 0x21, kLoclistx = 0x22, kRnglistx = 0x23,
                               kRefSup8 = 0x24, kStrx1 = 0x25, kStrx2 = 0x26, kStrx3 = 0x27,
                               kStrx4 = 0x28, kAddrx1 = 0x29, kAddrx2 = 0x2a, kAddrx3 = 0x2b,
                               kAddrx4 = 0x2c, kGnuAddrIndex = 0x1f01, kGnuStrIndex = 0x1f02,
                               kGnuRefAlt = 0x1f20, kGnuStrpAlt = 0x1f21;
}  // namespace form

namespace unit_type {
inline constexpr std::uint8_t kCompile = 0x01, kType = 0x02, kPartial = 0x03, kSkeleton = 0x04,
                              kSplitCompile = 0x05, kSplitType = 0x06;
}  // namespace unit_type

namespace range_entry {  // DW_RLE_*
inline constexpr std::uint8_t kEndOfList = 0, kBaseAddressx = 1, kStartxEndx = 2, kStartxLength = 3,
                              kOffsetPair = 4, kBaseAddress = 5, kStartEnd = 6, kStartLength = 7;
}  // namespace range_entry

namespace line_op {  // DW_LNS_* and DW_LNE_*
inline constexpr std::uint8_t kExtended = 0, kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3,
                              kSetFile = 4, kSetColumn = 5, kNegateStmt = 6, kSetBasicBlock = 7,
                              kConstAddPc = 8, kFixedAdvancePc = 9, kSetPrologueEnd = 10,
                              kSetEpilogueBegin = 11, kSetIsa = 12;
inline constexpr std::uint8_t kEndSequence = 1, kSetAddress = 2, kDefineFile = 3;
}  // namespace line_op

namespace line_content {  // DW_LNCT_*
inline constexpr std::uint64_t kPath = 1, kDirectoryIndex = 2;
}  // namespace line_content

namespace language {
inline constexpr std::uint16_t kC89 = 0x01, kC = 0x02, kC99 = 0x0c, kC11 = 0x1d, kC17 = 0x2c,
                               kMipsAssembler = 0x8001;
}  // namespace language

}  // namespace lumbre::dwarf
