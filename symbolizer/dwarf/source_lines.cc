#include "symbolizer/dwarf/source_lines.h"

#include <elf.h>

#include <optional>
#include <unordered_map>

#include "symbolizer/dwarf/constants.h"
#include "symbolizer/dwarf/debug_info.h"
#include "symbolizer/dwarf/function_entries.h"
#include "symbolizer/dwarf/inline_tree.h"
#include "symbolizer/dwarf/line_table.h"
#include "symbolizer/dwarf/unit_index.h"

namespace lumbre {
namespace dwarf {
namespace {

constexpr int kMaxInlineDepth = 1024;
constexpr LineRow kUnknownPlace = {0xffffffff, 0, 0};  // file 0 is a file in DWARF 5

// An entry of a range list takes two bytes or more, and lists are seldom shared.
WorkBudget range_budget(const Sections& sections) {
  constexpr std::uint64_t kSlack = 1 << 16;
  return WorkBudget((sections.info.size() + sections.ranges.size() + sections.rnglists.size()) / 2 +
                    kSlack);
}

// For names that are in another file (.gnu_debugaltlink).
constexpr std::string_view kUnnamedInlined = "[inlined]";

// What is kept of a unit that was asked for.
struct UnitLines {
  const OpenUnit* unit = nullptr;
  const LineTable* lines = nullptr;
  InlineTree tree;
  std::string_view comp_dir;
};

}  // namespace

// Everything that is read from one file, made at the first look-up.
class Reader {
 public:
  explicit Reader(const ElfFile& file)
      : info_(file),
        index_(info_),
        functions_(info_),
        range_budget_(range_budget(info_.sections())),
        line_budget_(4 * info_.sections().line.size()) {}

  void release_pages() const { info_.sections().release_pages(); }

  std::vector<SourceFrame> find(std::uint64_t address) {
    const auto index = index_.find(address);
    const UnitLines* unit = index.has_value() ? open(*index) : nullptr;
    if (unit == nullptr) {
      return {};
    }
    const std::uint32_t node = unit->tree.find(address);
    const std::optional<LineRow> row = unit->lines->find(address);
    // The line table of a skeleton does not say which of its lines were inlined from elsewhere.
    const bool is_known =
        node != InlineTree::kNone || (row.has_value() && !unit->unit->context.root().has_dwo);
    return is_known ? build_frames(*unit, node, row.value_or(kUnknownPlace))
                    : std::vector<SourceFrame>();
  }

 private:
  std::vector<SourceFrame> build_frames(const UnitLines& unit, std::uint32_t node, LineRow place) {
    std::vector<SourceFrame> frames;
    for (int depth = 0; node != InlineTree::kNone && depth < kMaxInlineDepth; ++depth) {
      const std::uint64_t entry = unit.unit->unit().offset + unit.tree.node(node).entry;
      FunctionEntry function = functions_.find(entry);
      frames.push_back(frame_at(unit, place));
      frames.back().function = std::move(function.name.text);
      frames.back().is_linkage_name = function.name.is_linkage_name;
      frames.back().start_line = function.name.declaration_line;
      if (!function.is_inlined) {
        return frames;
      }
      if (frames.back().function.empty()) {
        frames.back().function = kUnnamedInlined;
      }
      place = {function.call_file, function.call_line, function.call_column};
      node = unit.tree.node(node).parent;
    }
    frames.push_back(frame_at(unit, place));  // the function around is not described
    return frames;
  }

  static SourceFrame frame_at(const UnitLines& unit, const LineRow& place) {
    SourceFrame frame;
    frame.file = unit.lines->path(place.file, unit.comp_dir);
    frame.line = place.line;
    frame.column = place.column;
    return frame;
  }

  const UnitLines* open(std::size_t index) {
    const auto [place, is_new] = units_.try_emplace(index);
    UnitLines& lines = place->second;
    if (is_new) {
      lines.unit = info_.open(index);
      if (lines.unit != nullptr) {
        const UnitContext& context = lines.unit->context;
        lines.comp_dir = context.string(context.root().comp_dir);
        lines.tree = InlineTree(*lines.unit, range_budget_);
        lines.lines = line_table_of(context);
        info_.sections().release_pages();
      }
    }
    return lines.unit == nullptr ? nullptr : &lines;
  }

  // Units made from one source by link-time optimisation may share a program.
  const LineTable* line_table_of(const UnitContext& unit) {
    const std::uint64_t offset = unit.root().line_offset.value_or(~std::uint64_t{0});
    const auto [place, is_new] = line_tables_.try_emplace(offset);
    if (is_new && unit.root().line_offset.has_value() && line_budget_.spend(1)) {
      auto header = LineHeader::parse(unit, offset);
      if (header.has_value() && line_budget_.spend(header->size_bytes)) {
        place->second = LineTable(unit.sections(), std::move(*header));
      }
    }
    return &place->second;
  }

  DebugInfo info_;
  UnitIndex index_;
  FunctionEntries functions_;
  WorkBudget range_budget_;
  WorkBudget line_budget_;
  std::unordered_map<std::size_t, UnitLines> units_;
  std::unordered_map<std::uint64_t, LineTable> line_tables_;  // by offset in .debug_line
};

}  // namespace dwarf

struct SourceLines::State {
  std::shared_ptr<const ElfFile> file;
  std::unique_ptr<dwarf::Reader> reader;  // null before the first look-up
};

SourceLines::SourceLines(std::shared_ptr<const ElfFile> file_with_debug_info)
    : state_(std::make_unique<State>()) {
  state_->file = std::move(file_with_debug_info);
}
SourceLines::~SourceLines() = default;
SourceLines::SourceLines(SourceLines&&) noexcept = default;

std::vector<SourceFrame> SourceLines::find(ImageAddress address) const {
  if (!has_debug_info()) {
    return {};
  }
  if (state_->reader == nullptr) {
    state_->reader = std::make_unique<dwarf::Reader>(*state_->file);
  }
  return state_->reader->find(address.value);
}

void SourceLines::release_pages() const {
  if (state_->reader != nullptr) {
    state_->reader->release_pages();
  }
}

bool SourceLines::has_debug_info() const {
  // Addresses of relocatable files are not final.
  if (state_->file == nullptr || state_->file->type() == ET_REL) {
    return false;
  }
  for (const char* name : {".debug_info", ".zdebug_info"}) {
    const ElfFile::Section* section = state_->file->find_section(name);
    if (section != nullptr && !section->bytes.empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace lumbre
