#include "symbolizer/dwarf/inline_tree.h"

#include "symbolizer/dwarf/constants.h"
#include "symbolizer/dwarf/ranges.h"

namespace lumbre::dwarf {
namespace {

constexpr std::size_t kDepthLimit = 4096;

class TreeBuilder {
 public:
  TreeBuilder(const OpenUnit& unit, WorkBudget& budget)
      : unit_(unit), base_(unit.context.sections().code_base()), budget_(budget) {}

  void read_entries() {
    ByteReader reader = unit_.reader_at(unit_.unit().root());
    std::vector<std::uint32_t> around;  // the node that holds each open list of children
    std::uint32_t holder = InlineTree::kNone;
    while (!reader.is_at_end()) {
      const std::size_t entry = reader.offset();
      const std::uint64_t code = reader.uleb128();
      if (code == 0) {
        if (around.empty()) {
          return;
        }
        holder = around.back();
        around.pop_back();
        continue;
      }
      const Abbreviation* abbreviation = unit_.abbreviations->find(code);
      if (abbreviation == nullptr) {
        return;
      }
      const std::uint32_t own = read_entry(reader, *abbreviation, entry, holder);
      if (abbreviation->has_children) {
        if (around.size() == kDepthLimit) {
          return;
        }
        around.push_back(holder);
        holder = own;
      }
    }
  }

  std::vector<InlineTree::Node> nodes;
  std::vector<Interval> intervals;

 private:
  // Returns the node that the entry's children belong to.
  std::uint32_t read_entry(ByteReader& reader, const Abbreviation& abbreviation, std::size_t entry,
                           std::uint32_t holder) {
    const bool is_function = abbreviation.tag == tag::kSubprogram;
    const bool is_inlined = abbreviation.tag == tag::kInlinedSubroutine;
    const std::uint32_t outer = is_function ? InlineTree::kNone : holder;
    bool has_intervals = false;
    if (abbreviation.has_code && (is_function || is_inlined)) {
      has_intervals = read_intervals(reader, abbreviation);
    } else {
      unit_.abbreviations->skip(reader, abbreviation);
    }
    // An instance that kept no code of its own may still hold others that did.
    if (!has_intervals && (!is_inlined || holder == InlineTree::kNone)) {
      return outer;
    }
    nodes.push_back({static_cast<std::uint32_t>(entry - unit_.unit().offset), outer});
    return static_cast<std::uint32_t>(nodes.size() - 1);
  }

  bool read_intervals(ByteReader& reader, const Abbreviation& abbreviation) {
    PcAttributes pc;
    unit_.visit_attributes(reader, abbreviation, [&](std::uint16_t name, const FormValue& value) {
      if (name == at::kLowPc) {
        pc.low_pc = value;
      } else if (name == at::kHighPc) {
        pc.high_pc = value;
      } else if (name == at::kRanges) {
        pc.ranges = value;
      }
    });
    ranges_.clear();
    append_ranges(unit_.context, pc, budget_, ranges_);
    return add_intervals();
  }

  // Of ranges_, for the node that comes next; false when there is none.
  bool add_intervals() {
    const auto node = static_cast<std::uint32_t>(nodes.size());
    const std::size_t before = intervals.size();
    for (const CodeRange& range : ranges_) {
      if (range.start >= base_ && range.end - base_ <= 0xffffffff) {
        intervals.push_back({static_cast<std::uint32_t>(range.start - base_),
                             static_cast<std::uint32_t>(range.end - base_), node});
      }
    }
    return intervals.size() != before;
  }

  const OpenUnit& unit_;
  std::uint64_t base_;
  WorkBudget& budget_;
  std::vector<CodeRange> ranges_;
};

}  // namespace

InlineTree::InlineTree(const OpenUnit& unit, WorkBudget& budget)
    : base_(unit.context.sections().code_base()) {
  if (unit.unit().end - unit.unit().offset > 0xffffffff) {
    return;
  }
  TreeBuilder builder(unit, budget);
  builder.read_entries();
  nodes_ = std::move(builder.nodes);
  nodes_.shrink_to_fit();
  map_ = IntervalMap(std::move(builder.intervals));
}

std::uint32_t InlineTree::find(std::uint64_t address) const {
  if (address < base_ || address - base_ > 0xffffffff) {
    return kNone;
  }
  return map_.find(static_cast<std::uint32_t>(address - base_));
}

}  // namespace lumbre::dwarf
