// The entries of one .eh_frame or .debug_frame section: common information entries (CIE) and
// frame description entries (FDE), parsed one at a time by their offset.
//
// Sources: DWARF 5, section 6.4.1; Linux Standard Base Core 5.0, section 10.6. Not thread-safe
// (parsed CIEs are kept, at most kMaxKeptCies of them). Entries point into the section's bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbolizer/dwarf/cfi.h"
#include "symbolizer/dwarf/cfi_pointer.h"

namespace lumbre {

struct CommonEntry {
  std::uint8_t version = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint8_t pointer_encoding = 0;  // of the FDEs' addresses
  std::uint8_t segment_size_bytes = 0;
  bool has_augmentation_data = false;
  bool is_signal_frame = false;
  std::span<const std::byte> instructions;
};

struct FrameEntry {
  std::shared_ptr<const CommonEntry> common;
  ImageAddress start, end;
  std::span<const std::byte> instructions;
};

class CfiSection {
 public:
  enum class Kind { kEhFrame, kDebugFrame };
  static constexpr std::size_t kMaxKeptCies = 256;

  CfiSection() = default;
  CfiSection(Kind kind, std::span<const std::byte> bytes, const PointerBases& bases)
      : kind_(kind), bytes_(bytes), bases_(bases) {}

  bool is_empty() const { return bytes_.empty(); }
  std::uint64_t address() const { return bases_.section_address; }
  // For DW_CFA_set_loc, whose operand is an encoded pointer inside the section.
  PointerBases bases_for(std::span<const std::byte> part) const;

  // The FDE at an offset; none where there is no FDE or it is malformed.
  std::optional<FrameEntry> parse_fde(std::size_t offset);

  struct Location {
    std::uint64_t start, end;
    std::size_t offset;
  };
  // Every well-formed FDE, by address. One pass over the section.
  std::vector<Location> index_all();

 private:
  struct Header {  // of a CIE or an FDE
    std::size_t next_offset = 0;
    std::size_t cie_offset = 0;
    bool is_cie = false;
    ByteReader body{{}};  // behind the CIE pointer or id, ends with the entry
    std::size_t body_offset = 0;
  };
  std::optional<Header> parse_header(std::size_t offset) const;
  std::optional<FrameEntry> parse_fde(const Header& header);
  std::shared_ptr<const CommonEntry> cie_at(std::size_t offset);
  std::optional<CommonEntry> parse_cie(std::size_t offset) const;
  bool parse_augmentation(std::string_view augmentation, ByteReader& body,
                          CommonEntry& entry) const;

  Kind kind_ = Kind::kEhFrame;
  std::span<const std::byte> bytes_;
  PointerBases bases_;
  std::unordered_map<std::size_t, std::shared_ptr<const CommonEntry>> cies_;
};

}  // namespace lumbre
