#include "symbolizer/dwarf/unit_index.h"

#include <algorithm>
#include <vector>

#include "symbolizer/dwarf/constants.h"
#include "symbolizer/dwarf/ranges.h"

namespace lumbre::dwarf {
namespace {

struct RangeSink {
  std::uint64_t base;
  std::vector<Interval> intervals;

  void add(const CodeRange& range, std::size_t unit) {
    if (range.end <= range.start || range.start < base || range.end - base > 0xffffffff) {
      return;
    }
    intervals.push_back({static_cast<std::uint32_t>(range.start - base),
                         static_cast<std::uint32_t>(range.end - base),
                         static_cast<std::uint32_t>(unit)});
  }
};

// One set of .debug_aranges (section 6.1.2), the cursor being past its length. Dropped functions
// leave pairs of zeros among the others, so that only the set's length tells where it ends.
void read_set(ByteReader& reader, std::uint8_t offset_size, std::uint64_t set_start,
              const DebugInfo& info, std::vector<bool>& is_covered, RangeSink& sink) {
  const std::uint16_t version = reader.u16();
  const auto unit = info.unit_index_at(read_unsigned(reader, offset_size));
  const unsigned address_size = reader.u8();
  const unsigned selector_size = reader.u8();
  if (version != 2 || !unit.has_value() || (address_size != 8 && address_size != 4) ||
      selector_size != 0) {
    return;
  }
  const std::uint64_t pair_size = 2 * address_size;
  const std::uint64_t header_size = reader.offset() - set_start;
  reader.skip((pair_size - header_size % pair_size) % pair_size);
  while (reader.remaining() >= pair_size) {
    const std::uint64_t start = read_unsigned(reader, address_size);
    const std::uint64_t size = read_unsigned(reader, address_size);
    if (info.sections().is_code(start)) {
      sink.add({start, start + size}, *unit);
      is_covered[*unit] = true;
    }
  }
}

void read_aranges(const DebugInfo& info, std::vector<bool>& is_covered, RangeSink& sink) {
  ByteReader reader(info.sections().aranges);
  while (!reader.is_at_end()) {
    const std::uint64_t set_start = reader.offset();
    std::uint8_t offset_size = 4;
    const std::uint64_t length = read_unit_length(reader, offset_size);
    if (reader.is_failed() || length > reader.remaining()) {
      return;
    }
    const std::uint64_t set_end = reader.offset() + length;
    ByteReader set(reader.bytes().first(set_end), reader.offset());
    read_set(set, offset_size, set_start, info, is_covered, sink);
    reader.seek(set_end);
  }
}

bool may_have_code(const Unit& unit) {
  return unit.header_size != 0 &&
         (unit.type == unit_type::kCompile || unit.type == unit_type::kSkeleton);
}

}  // namespace

UnitIndex::UnitIndex(DebugInfo& info) : info_(info), base_(info.sections().code_base()) {
  build(false);
}

void UnitIndex::build(bool with_all_roots) {
  RangeSink sink{base_, {}};
  const auto units = info_.units();
  std::vector<bool> is_covered(units.size());
  read_aranges(info_, is_covered, sink);
  const Sections& sections = info_.sections();
  WorkBudget budget(sections.ranges.size() + sections.rnglists.size() + units.size());
  std::vector<CodeRange> ranges;
  has_all_roots_ = true;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!may_have_code(units[i])) {
      continue;
    }
    if (is_covered[i] && !with_all_roots) {
      has_all_roots_ = false;
      continue;
    }
    const auto root = info_.look_at_root(i);
    if (!root.has_value() ||
        (root->root().tag != tag::kCompileUnit && root->root().tag != tag::kSkeletonUnit)) {
      continue;
    }
    ranges.clear();
    append_ranges(*root, root->root().pc, budget, ranges);
    for (const CodeRange& range : ranges) {
      sink.add(range, i);
    }
  }
  map_ = IntervalMap(std::move(sink.intervals));
}

std::optional<std::size_t> UnitIndex::find(std::uint64_t address) {
  if (address < base_ || address - base_ > 0xffffffff) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::uint32_t>(address - base_);
  std::uint32_t unit = map_.find(offset);
  if (unit == IntervalMap::kNone && !has_all_roots_) {
    build(true);
    unit = map_.find(offset);
  }
  return unit == IntervalMap::kNone ? std::nullopt : std::optional<std::size_t>(unit);
}

}  // namespace lumbre::dwarf
