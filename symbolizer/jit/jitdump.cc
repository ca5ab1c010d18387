#include "symbolizer/jit/jitdump.h"

#include <algorithm>
#include <string_view>

namespace lumbre {
namespace {

constexpr std::uint32_t kMagic = 0x4A695444;  // "JiTD", written in the writer's byte order
constexpr std::size_t kHeaderBytes = 40;
constexpr std::size_t kPrefixBytes = 16;  // id, total size, time
constexpr std::uint64_t kFlagArchTimestamp = 1;
constexpr std::string_view kSameFile = "\xff";  // as in the entry before
constexpr std::size_t kLoadFixedBytes = 40;

enum RecordId : std::uint32_t { kLoad, kMove, kDebugInfo, kClose, kUnwindingInfo };

// How much of a record's body has to be there before it can be handled.
std::size_t needed_bytes(std::uint32_t id, std::size_t body_bytes) {
  switch (id) {
    case kLoad:  // the name, and not the code behind it
      return std::min(body_bytes, kLoadFixedBytes + JitdumpParser::kMaxNameBytes + 1);
    case kMove:
      return std::min<std::size_t>(body_bytes, 64);
    case kDebugInfo:
    case kUnwindingInfo:
      return body_bytes <= JitdumpParser::kMaxRecordBytes - kPrefixBytes ? body_bytes : 0;
    default:
      return 0;
  }
}

// Up to the zero, or all of it where the name is longer than what was read.
std::string take_name(ByteReader& reader) {
  const auto rest = reader.take(reader.remaining());
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return std::string(text.substr(0, std::min(text.find('\0'), JitdumpParser::kMaxNameBytes)));
}

}  // namespace

// The bytes of the header, or none while they are not there (or are no header).
std::optional<std::size_t> JitdumpParser::parse_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes) {
    return std::nullopt;
  }
  ByteReader reader(bytes);
  const std::uint32_t magic = reader.u32();
  const std::uint32_t version = reader.u32();
  const std::uint32_t total_bytes = reader.u32();
  reader.skip(8);  // ELF machine, padding
  pid_ = reader.u32();
  reader.skip(8);  // the time of writing
  has_monotonic_times_ = (reader.u64() & kFlagArchTimestamp) == 0;
  if (magic != kMagic || version == 0 || total_bytes < kHeaderBytes) {
    is_malformed_ = true;
    return std::nullopt;
  }
  has_header_ = true;
  return total_bytes;
}

bool JitdumpParser::feed(std::span<const std::byte> bytes, std::uint64_t now_ns) {
  now_ns_ = now_ns;
  std::size_t at = 0;
  if (!has_header_ && !is_malformed_) {
    const auto header_bytes = parse_header(bytes);
    if (!header_bytes.has_value()) {
      return false;
    }
    offset_ = at = *header_bytes;
  }
  bool has_progressed = false;
  while (!is_malformed_ && at <= bytes.size() && bytes.size() - at >= kPrefixBytes) {
    ByteReader reader(bytes, at);
    Record record;
    record.id = reader.u32();
    const std::uint32_t total_bytes = reader.u32();
    record.time_ns = reader.u64();
    if (total_bytes < kPrefixBytes) {
      is_malformed_ = true;
      break;
    }
    const std::size_t needed = needed_bytes(record.id, total_bytes - kPrefixBytes);
    if (reader.remaining() < needed) {
      break;
    }
    record.body = reader.take(needed);
    handle(record);
    at += total_bytes;
    offset_ += total_bytes;
    has_progressed = true;
  }
  return has_progressed && !is_malformed_;
}

std::uint64_t JitdumpParser::time_of(const Record& record) const {
  return has_monotonic_times_ && record.time_ns <= now_ns_ ? record.time_ns : 0;
}

void JitdumpParser::handle(const Record& record) {
  switch (record.id) {
    case kLoad:
      handle_load(record);
      break;
    case kMove:
      handle_move(record);
      break;
    case kDebugInfo:
      handle_debug_info(record);
      break;
    case kUnwindingInfo:
      handle_unwinding_info(record);
      break;
    default:
      break;
  }
}

void JitdumpParser::handle_load(const Record& record) {
  ByteReader reader(record.body);
  reader.skip(16);  // pid, tid, and the address of the code where it was compiled
  JitFunction function;
  function.start = {reader.u64()};
  function.size_bytes = reader.u64();
  reader.skip(8);  // its number
  function.name = take_name(reader);
  function.from_ns = time_of(record);
  auto debug = std::make_shared<JitDebug>();
  debug->code_start = function.start.value;
  if (waiting_debug_address_ == function.start.value) {
    debug->files = std::move(waiting_files_);
    debug->lines = std::move(waiting_lines_);
  }
  debug->eh_frame = std::move(waiting_eh_frame_);
  waiting_files_.clear();
  waiting_lines_.clear();
  waiting_eh_frame_.clear();
  if (!debug->lines.empty() || !debug->eh_frame.empty()) {
    function.debug = std::move(debug);
  }
  if (!reader.is_failed() && !function.name.empty()) {
    functions_.add(std::move(function));
  }
}

void JitdumpParser::handle_move(const Record& record) {
  ByteReader reader(record.body);
  reader.skip(16);
  const ProcessAddress from{reader.u64()};
  const ProcessAddress to{reader.u64()};
  if (!reader.is_failed()) {
    functions_.move(from, to, time_of(record));
  }
}

void JitdumpParser::handle_debug_info(const Record& record) {
  ByteReader reader(record.body);
  waiting_debug_address_ = reader.u64();
  const std::uint64_t count = reader.u64();
  waiting_files_.clear();
  waiting_lines_.clear();
  for (std::uint64_t i = 0; i < count && !reader.is_failed(); ++i) {
    JitLine line;
    line.address = reader.u64();
    line.line = reader.u32();
    reader.skip(4);  // the column
    const std::string_view file = reader.c_string();
    if (reader.is_failed()) {
      break;
    }
    if (file != kSameFile || waiting_files_.empty()) {
      waiting_files_.emplace_back(file);
    }
    line.file = static_cast<std::uint32_t>(waiting_files_.size() - 1);
    waiting_lines_.push_back(line);
  }
  std::stable_sort(waiting_lines_.begin(), waiting_lines_.end(),
                   [](const JitLine& a, const JitLine& b) { return a.address < b.address; });
}

// The frame entries, then (as all writers do it) their search table, which is not needed.
void JitdumpParser::handle_unwinding_info(const Record& record) {
  ByteReader reader(record.body);
  const std::uint64_t size_bytes = reader.u64();
  const std::uint64_t table_bytes = reader.u64();
  reader.skip(8);  // how much of it is in the process's memory
  waiting_eh_frame_.clear();
  if (reader.is_failed() || table_bytes > size_bytes || size_bytes > reader.remaining()) {
    return;
  }
  const auto entries = reader.take(static_cast<std::size_t>(size_bytes - table_bytes));
  waiting_eh_frame_.assign(entries.begin(), entries.end());
}

}  // namespace lumbre
