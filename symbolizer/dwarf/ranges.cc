#include "symbolizer/dwarf/ranges.h"

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

class RangeListReader {
 public:
  RangeListReader(const UnitContext& unit, WorkBudget& budget, std::vector<CodeRange>& ranges)
      : unit_(unit), budget_(budget), ranges_(ranges) {
    base_ = unit.address(unit.root().pc.low_pc).value_or(0);
  }

  void read_v4(std::uint64_t offset) {
    const unsigned size = unit_.unit().format.address_size;
    const std::uint64_t select_base = size == 8 ? ~std::uint64_t{0} : 0xffffffff;
    ByteReader reader(unit_.sections().ranges, offset);
    while (budget_.spend(1)) {
      const std::uint64_t start = read_unsigned(reader, size);
      const std::uint64_t end = read_unsigned(reader, size);
      if (reader.is_failed() || (start == 0 && end == 0)) {
        return;
      }
      if (start == select_base) {
        base_ = end;
      } else {
        add(base_ + start, base_ + end);
      }
    }
  }

  void read_v5(std::uint64_t offset) {
    ByteReader reader(unit_.sections().rnglists, offset);
    while (budget_.spend(1) && read_entry(reader) && !reader.is_failed()) {
    }
  }

  void add(std::uint64_t start, std::uint64_t end) {
    if (start < end && unit_.sections().is_code(start)) {
      ranges_.push_back({start, end});
    }
  }

 private:
  // False at the end of the list.
  bool read_entry(ByteReader& reader) {
    switch (reader.u8()) {
      case range_entry::kBaseAddressx:
        base_ = indexed(reader);
        return true;
      case range_entry::kStartxEndx: {
        const std::uint64_t start = indexed(reader);
        add(start, indexed(reader));
        return true;
      }
      case range_entry::kStartxLength: {
        const std::uint64_t start = indexed(reader);
        add(start, start + reader.uleb128());
        return true;
      }
      case range_entry::kOffsetPair: {
        const std::uint64_t start = base_ + reader.uleb128();
        add(start, base_ + reader.uleb128());
        return true;
      }
      case range_entry::kBaseAddress:
        base_ = direct(reader);
        return true;
      case range_entry::kStartEnd: {
        const std::uint64_t start = direct(reader);
        add(start, direct(reader));
        return true;
      }
      case range_entry::kStartLength: {
        const std::uint64_t start = direct(reader);
        add(start, start + reader.uleb128());
        return true;
      }
      default:  // the end, or an entry of unknown size
        return false;
    }
  }
  std::uint64_t indexed(ByteReader& reader) {
    return unit_.indexed_address(reader.uleb128()).value_or(0);
  }
  std::uint64_t direct(ByteReader& reader) {
    return read_unsigned(reader, unit_.unit().format.address_size);
  }

  const UnitContext& unit_;
  WorkBudget& budget_;
  std::vector<CodeRange>& ranges_;
  std::uint64_t base_ = 0;
};

// DW_FORM_rnglistx counts in the table of offsets, which themselves count from that table.
std::uint64_t list_offset(const UnitContext& unit, const FormValue& value) {
  if (value.form != form::kRnglistx) {
    return value.number;
  }
  const auto& rnglists = unit.sections().rnglists;
  const std::uint64_t base = unit.root().rnglists_base;
  const unsigned size = unit.unit().format.offset_size;
  if (base > rnglists.size() || value.number >= (rnglists.size() - base) / size) {
    return rnglists.size();
  }
  ByteReader reader(rnglists, base + value.number * size);
  return base + read_unsigned(reader, size);
}

}  // namespace

void append_ranges(const UnitContext& unit, const PcAttributes& attributes, WorkBudget& budget,
                   std::vector<CodeRange>& ranges) {
  RangeListReader reader(unit, budget, ranges);
  if (attributes.ranges.is_present()) {
    const std::uint64_t offset = list_offset(unit, attributes.ranges);
    unit.unit().format.version >= 5 ? reader.read_v5(offset) : reader.read_v4(offset);
    return;
  }
  const auto low = unit.address(attributes.low_pc);
  if (!low.has_value() || !attributes.high_pc.is_present()) {
    return;
  }
  const bool is_absolute = is_address_form(attributes.high_pc.form);
  reader.add(*low, is_absolute ? unit.address(attributes.high_pc).value_or(0)
                               : *low + attributes.high_pc.number);
}

}  // namespace lumbre::dwarf
