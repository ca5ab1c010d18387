#include "symbolizer/dwarf/line_table.h"

#include <algorithm>

namespace lumbre::dwarf {
namespace {

constexpr std::uint32_t kRowsPerCheckpoint = 32;
// Bytes that one look-up may run through; a hostile program could hold megabytes without a row.
constexpr std::size_t kLookupBytes = 1 << 16;

}  // namespace

LineTable::LineTable(const Sections& sections, LineHeader header) : header_(std::move(header)) {
  if (header_.program.size() <= 0xffffffff) {
    run_program(sections);
  }
  header_.files.shrink_to_fit();
  checkpoints_.shrink_to_fit();
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [](const Sequence& a, const Sequence& b) { return a.start < b.start; });
  sequences_.shrink_to_fit();
}

void LineTable::run_program(const Sections& sections) {
  LineProgram program(header_);
  std::uint32_t rows = 0;  // in this sequence
  std::uint32_t begin = 0;
  for (auto event = program.next(); event != LineProgram::Event::kEnd; event = program.next()) {
    if (event == LineProgram::Event::kRow) {
      if (rows++ % kRowsPerCheckpoint == 0) {
        checkpoints_.push_back({program.registers(), static_cast<std::uint32_t>(program.offset())});
      }
      continue;
    }
    end_sequence(sections, program.registers().address, begin);
    begin = static_cast<std::uint32_t>(checkpoints_.size());
    rows = 0;
    program.reset();
  }
  checkpoints_.resize(begin);  // rows that no end of a sequence follows
  header_.files.insert(header_.files.end(), program.defined_files().begin(),
                       program.defined_files().end());
}

void LineTable::end_sequence(const Sections& sections, std::uint64_t end, std::uint32_t begin) {
  const auto checkpoints_end = static_cast<std::uint32_t>(checkpoints_.size());
  if (begin == checkpoints_end) {
    return;
  }
  const std::uint64_t start = checkpoints_[begin].registers.address;
  if (start >= end || !sections.is_code(start)) {
    checkpoints_.resize(begin);
    return;
  }
  sequences_.push_back({start, end, begin, checkpoints_end});
}

std::optional<LineRow> LineTable::find(std::uint64_t address) const {
  const auto after = std::upper_bound(
      sequences_.begin(), sequences_.end(), address,
      [](std::uint64_t key, const Sequence& sequence) { return key < sequence.start; });
  if (after == sequences_.begin() || address >= std::prev(after)->end) {
    return std::nullopt;
  }
  const Sequence& sequence = *std::prev(after);
  const auto next = std::upper_bound(checkpoints_.begin() + sequence.checkpoints_begin,
                                     checkpoints_.begin() + sequence.checkpoints_end, address,
                                     [](std::uint64_t key, const Checkpoint& checkpoint) {
                                       return key < checkpoint.registers.address;
                                     });
  if (next == checkpoints_.begin() + sequence.checkpoints_begin) {
    return std::nullopt;
  }
  return row_after(*std::prev(next), address);
}

LineRow LineTable::row_after(const Checkpoint& checkpoint, std::uint64_t address) const {
  LineProgram program(header_, checkpoint.offset, checkpoint.registers);
  LineRegisters row = checkpoint.registers;
  while (program.offset() - checkpoint.offset < kLookupBytes &&
         program.next() == LineProgram::Event::kRow && program.registers().address <= address) {
    row = program.registers();
  }
  return {row.file, row.line, row.column};
}

}  // namespace lumbre::dwarf
