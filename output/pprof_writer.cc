#include <array>

#include "output/formats.h"
#include "output/frame_kinds.h"
#include "output/gzip.h"
#include "output/pprof_fields.h"
#include "output/proto_writer.h"
#include "output/utf8.h"

namespace lumbre::output {
namespace {

constexpr std::size_t kFlushBytes = 256 * 1024;

// Kinds that are kept by a mapping of their own where the location has none (frame_kinds.h).
constexpr std::array<FrameKind, 3> kMappedKinds = {FrameKind::kPython, FrameKind::kJit,
                                                   FrameKind::kKernel};

class PprofWriter {
 public:
  PprofWriter(const Profile& profile, std::ostream& out)
      : profile_(profile), gzip_(out), mappings_(profile.mappings) {}

  bool write();

 private:
  void add_kind_mappings();
  void add_symbol_flags();
  MappingId mapping_of(const Location& location) const;

  void write_value_type(std::uint32_t field, const ValueType& type);
  void write_header();
  void write_sample(const Sample& sample);
  void write_label(const Label& label);
  void write_mapping(std::uint64_t id, const Mapping& mapping);
  void write_location(std::uint64_t id, const Location& location);
  void write_function(std::uint64_t id, const Function& function);
  void write_strings();
  void add(std::uint32_t field, const ProtoWriter& message);
  void flush_when_full();

  const Profile& profile_;
  GzipWriter gzip_;
  std::vector<Mapping> mappings_;
  std::array<MappingId, kMappedKinds.size()> kind_mappings_{kNone, kNone, kNone};
  std::vector<std::string_view> more_strings_;  // behind the profile's own
  ProtoWriter body_, message_, nested_;
  bool is_good_ = true;
};

// Strings are written last: a reader of any producer's files cannot count on their place anyway.
bool PprofWriter::write() {
  add_kind_mappings();
  add_symbol_flags();
  for (const ValueType& type : profile_.sample_types) {
    write_value_type(pprof::profile::kSampleType, type);
  }
  for (const Sample& sample : profile_.samples) write_sample(sample);
  std::uint64_t id = 0;
  for (const Mapping& mapping : mappings_) write_mapping(++id, mapping);
  id = 0;
  for (const Location& location : profile_.locations) write_location(++id, location);
  id = 0;
  for (const Function& function : profile_.functions) write_function(++id, function);
  write_header();
  write_strings();
  return is_good_ && gzip_.write(body_.data()) && gzip_.finish();
}

void PprofWriter::add_kind_mappings() {
  for (const Location& location : profile_.locations) {
    if (location.mapping < profile_.mappings.size()) continue;
    for (std::size_t i = 0; i < kMappedKinds.size(); ++i) {
      if (location.kind != kMappedKinds[i] || kind_mappings_[i] != kNone) continue;
      more_strings_.push_back(mapping_for_kind(location.kind));
      Mapping mapping;
      mapping.filename = static_cast<StringId>(profile_.string_count() + more_strings_.size() - 1);
      kind_mappings_[i] = static_cast<MappingId>(mappings_.size());
      mappings_.push_back(mapping);
    }
  }
}

// The flags keep pprof from naming again, with whatever binary lies at that path on the reader's
// machine, what is named already. "module+0x1f" is no name in this sense.
void PprofWriter::add_symbol_flags() {
  for (const Location& location : profile_.locations) {
    const MappingId id = mapping_of(location);
    if (id == kNone || location.kind == FrameKind::kUnknown) continue;
    Mapping& mapping = mappings_[id];
    for (const Line& line : location.lines) {
      if (line.function >= profile_.functions.size()) continue;
      mapping.has_functions = true;
      mapping.has_filenames |= profile_.functions[line.function].filename != 0;
      mapping.has_line_numbers |= line.line != 0;
    }
    mapping.has_inline_frames |= location.lines.size() > 1;
  }
}

MappingId PprofWriter::mapping_of(const Location& location) const {
  if (location.mapping < profile_.mappings.size()) return location.mapping;
  for (std::size_t i = 0; i < kMappedKinds.size(); ++i) {
    if (location.kind == kMappedKinds[i]) return kind_mappings_[i];
  }
  return kNone;
}

void PprofWriter::write_value_type(std::uint32_t field, const ValueType& type) {
  message_.clear();
  message_.uint(pprof::value_type::kType, type.type);
  message_.uint(pprof::value_type::kUnit, type.unit);
  add(field, message_);
}

void PprofWriter::write_header() {
  body_.integer(pprof::profile::kTimeNanos, profile_.time_nanos);
  body_.integer(pprof::profile::kDurationNanos, profile_.duration_nanos);
  if (profile_.period_type.type != 0) {
    write_value_type(pprof::profile::kPeriodType, profile_.period_type);
  }
  body_.integer(pprof::profile::kPeriod, profile_.period);
  body_.packed(pprof::profile::kComment, profile_.comments,
               [](StringId comment) { return std::uint64_t{comment}; });
  body_.uint(pprof::profile::kDefaultSampleType, profile_.default_sample_type);
}

void PprofWriter::write_sample(const Sample& sample) {
  message_.clear();
  message_.packed(pprof::sample::kLocationId, sample.locations,
                  [](LocationId id) { return std::uint64_t{id} + 1; });
  message_.packed(pprof::sample::kValue, sample.values,
                  [](std::int64_t value) { return static_cast<std::uint64_t>(value); });
  for (const Label& label : sample.labels) write_label(label);
  add(pprof::profile::kSample, message_);
}

void PprofWriter::write_label(const Label& label) {
  nested_.clear();
  nested_.uint(pprof::label::kKey, label.key);
  if (label.text != 0) {
    nested_.uint(pprof::label::kText, label.text);
  } else {
    nested_.integer(pprof::label::kNumber, label.number);
    // pprof drops a label whose number and unit are both unset. The key is the unit that it
    // assumes where there is none, so rank 0 is kept and still means the same.
    const bool is_dropped = label.number == 0 && label.number_unit == 0;
    nested_.uint(pprof::label::kNumberUnit, is_dropped ? label.key : label.number_unit);
  }
  message_.message(pprof::sample::kLabel, nested_);
}

void PprofWriter::write_mapping(std::uint64_t id, const Mapping& mapping) {
  message_.clear();
  message_.uint(pprof::mapping::kId, id);
  message_.uint(pprof::mapping::kMemoryStart, mapping.memory_start);
  message_.uint(pprof::mapping::kMemoryLimit, mapping.memory_limit);
  message_.uint(pprof::mapping::kFileOffset, mapping.file_offset);
  message_.uint(pprof::mapping::kFilename, mapping.filename);
  message_.uint(pprof::mapping::kBuildId, mapping.build_id);
  message_.boolean(pprof::mapping::kHasFunctions, mapping.has_functions);
  message_.boolean(pprof::mapping::kHasFilenames, mapping.has_filenames);
  message_.boolean(pprof::mapping::kHasLineNumbers, mapping.has_line_numbers);
  message_.boolean(pprof::mapping::kHasInlineFrames, mapping.has_inline_frames);
  add(pprof::profile::kMapping, message_);
}

void PprofWriter::write_location(std::uint64_t id, const Location& location) {
  message_.clear();
  message_.uint(pprof::location::kId, id);
  const MappingId mapping = mapping_of(location);
  message_.uint(pprof::location::kMappingId, mapping == kNone ? 0 : std::uint64_t{mapping} + 1);
  message_.uint(pprof::location::kAddress, location.address);
  for (const Line& line : location.lines) {
    if (line.function >= profile_.functions.size()) continue;
    nested_.clear();
    nested_.uint(pprof::line::kFunctionId, std::uint64_t{line.function} + 1);
    nested_.integer(pprof::line::kLine, line.line);
    nested_.integer(pprof::line::kColumn, line.column);
    message_.message(pprof::location::kLine, nested_);
  }
  add(pprof::profile::kLocation, message_);
}

void PprofWriter::write_function(std::uint64_t id, const Function& function) {
  message_.clear();
  message_.uint(pprof::function::kId, id);
  message_.uint(pprof::function::kName, function.name);
  message_.uint(pprof::function::kSystemName, function.system_name);
  message_.uint(pprof::function::kFilename, function.filename);
  message_.integer(pprof::function::kStartLine, function.start_line);
  add(pprof::profile::kFunction, message_);
}

void PprofWriter::write_strings() {
  std::string valid;
  const auto write = [&](std::string_view text) {
    valid.clear();
    append_valid_utf8(valid, text);
    body_.bytes(pprof::profile::kStringTable, valid);
    flush_when_full();
  };
  for (std::size_t id = 0; id < profile_.string_count(); ++id) {
    write(profile_.text(static_cast<StringId>(id)));
  }
  for (const std::string_view text : more_strings_) write(text);
}

void PprofWriter::add(std::uint32_t field, const ProtoWriter& message) {
  body_.message(field, message);
  flush_when_full();
}

void PprofWriter::flush_when_full() {
  if (body_.size() < kFlushBytes) return;
  is_good_ = is_good_ && gzip_.write(body_.data());
  body_.clear();
}

}  // namespace

bool write_pprof(const Profile& profile, std::ostream& out) {
  return PprofWriter(profile, out).write();
}

}  // namespace lumbre::output
