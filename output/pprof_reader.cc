#include "output/pprof_reader.h"

#include <algorithm>

#include "output/formats.h"
#include "output/frame_kinds.h"
#include "output/gzip.h"
#include "output/pprof_fields.h"

namespace lumbre::output {
namespace {

constexpr std::size_t kMaximumInflatedBytes = std::size_t{1} << 30;
// Of the finished model, roughly.
constexpr std::size_t kMaximumModelBytes = std::size_t{2} << 30;
// Of the outermost message, which is passed over several times. Real entries are longer than the
// 16 bytes each that this leaves them on average.
constexpr std::size_t kMaximumFields = kMaximumInflatedBytes / 16;
// What an entry of the functions' or locations' table costs, with its place in the hash table.
constexpr std::size_t kTableEntryBytes = 160;
// Finding a key twice is quadratic; real samples have about ten labels.
constexpr std::size_t kMaximumLabels = 128;

}  // namespace

bool PprofIdMap::add(std::uint64_t id, std::uint32_t index) {
  if (id == 0 || find(id) != kNone) return false;
  if (id == dense_.size() + 1) {
    dense_.push_back(index);
    return true;
  }
  return sparse_.emplace(id, index).second;
}

std::uint32_t PprofIdMap::find(std::uint64_t id) const {
  if (id - 1 < dense_.size()) return dense_[static_cast<std::size_t>(id - 1)];
  const auto known = sparse_.find(id);
  return known == sparse_.end() ? kNone : known->second;
}

std::optional<Profile> PprofReader::read(std::string& fault) {
  if (!read_tables()) {
    fault = fault_.empty() ? "a field is damaged or cut off" : fault_;
    return std::nullopt;
  }
  return std::move(profile_);
}

bool PprofReader::read_tables() {
  using namespace pprof::profile;
  if (!count_fields()) return false;
  if (!each_field(kStringTable, &PprofReader::read_string)) return false;
  if (strings_.empty()) return fail("it has no string table");
  if (!strings_[0].empty()) return fail("the first string of its table is not empty");
  string_ids_.assign(strings_.size(), kNone);
  string_ids_[0] = 0;
  if (!each_field(0, &PprofReader::read_header)) return false;
  if (!each_field(kSampleType, &PprofReader::read_sample_type)) return false;
  if (!each_field(kMapping, &PprofReader::read_mapping)) return false;
  if (!each_field(kFunction, &PprofReader::read_function)) return false;
  if (!each_field(kLocation, &PprofReader::read_location)) return false;
  return each_field(kSample, &PprofReader::read_sample);
}

bool PprofReader::count_fields() {
  ProtoReader reader(message_);
  std::size_t count = 0;
  while (reader.next()) {
    if (++count > kMaximumFields) return fail("it has too many entries");
  }
  return !reader.is_failed();
}

// Field 0 stands for all.
bool PprofReader::each_field(std::uint32_t field, Step step) {
  ProtoReader reader(message_);
  while (reader.next()) {
    if (field != 0 && reader.field() != field) continue;
    if (!(this->*step)(reader)) return false;
  }
  return !reader.is_failed();
}

bool PprofReader::read_string(const ProtoReader& field) {
  if (!charge(sizeof(std::string_view) + sizeof(StringId))) return false;
  strings_.push_back(field.bytes());
  return true;
}

bool PprofReader::read_header(const ProtoReader& field) {
  using namespace pprof::profile;
  switch (field.field()) {
    case kTimeNanos:
      profile_.time_nanos = field.integer();
      return true;
    case kDurationNanos:
      profile_.duration_nanos = field.integer();
      return true;
    case kPeriod:
      profile_.period = field.integer();
      return true;
    case kPeriodType:
      return parse_value_type(field.bytes(), profile_.period_type);
    case kDefaultSampleType:
      return text(field.uint(), profile_.default_sample_type);
    case kComment:
      return field.each_varint([&](std::uint64_t index) {
        StringId id = 0;
        if (!text(index, id) || !charge(sizeof(StringId))) return false;
        profile_.comments.push_back(id);
        return true;
      });
    default:
      return true;
  }
}

bool PprofReader::read_sample_type(const ProtoReader& field) {
  ValueType type;
  if (!charge(sizeof(type)) || !parse_value_type(field.bytes(), type)) return false;
  profile_.sample_types.push_back(type);
  return true;
}

bool PprofReader::read_mapping(const ProtoReader& field) {
  using namespace pprof::mapping;
  Mapping mapping;
  std::uint64_t id = 0;
  ProtoReader reader(field.bytes());
  bool is_good = charge(sizeof(Mapping));
  while (is_good && reader.next()) {
    const std::uint64_t value = reader.uint();
    switch (reader.field()) {
      case kId:
        id = value;
        break;
      case kMemoryStart:
        mapping.memory_start = value;
        break;
      case kMemoryLimit:
        mapping.memory_limit = value;
        break;
      case kFileOffset:
        mapping.file_offset = value;
        break;
      case kFilename:
        is_good = text(value, mapping.filename);
        break;
      case kBuildId:
        is_good = text(value, mapping.build_id);
        break;
      case kHasFunctions:
        mapping.has_functions = value != 0;
        break;
      case kHasFilenames:
        mapping.has_filenames = value != 0;
        break;
      case kHasLineNumbers:
        mapping.has_line_numbers = value != 0;
        break;
      case kHasInlineFrames:
        mapping.has_inline_frames = value != 0;
        break;
      default:
        break;
    }
  }
  if (!is_good || reader.is_failed()) return false;
  if (!mapping_ids_.add(id, profile_.add_mapping(mapping))) {
    return fail("two mappings have the same id, or one has none");
  }
  return true;
}

bool PprofReader::read_function(const ProtoReader& field) {
  using namespace pprof::function;
  Function function;
  std::uint64_t id = 0;
  ProtoReader reader(field.bytes());
  bool is_good = charge(kTableEntryBytes);
  while (is_good && reader.next()) {
    switch (reader.field()) {
      case kId:
        id = reader.uint();
        break;
      case kName:
        is_good = text(reader.uint(), function.name);
        break;
      case kSystemName:
        is_good = text(reader.uint(), function.system_name);
        break;
      case kFilename:
        is_good = text(reader.uint(), function.filename);
        break;
      case kStartLine:
        function.start_line = reader.integer();
        break;
      default:
        break;
    }
  }
  if (!is_good || reader.is_failed()) return false;
  // A producer may name a function by its linker name alone.
  if (function.name == 0) function.name = function.system_name;
  if (!function_ids_.add(id, profile_.add_function(function))) {
    return fail("two functions have the same id, or one has none");
  }
  return true;
}

bool PprofReader::read_location(const ProtoReader& field) {
  using namespace pprof::location;
  Location location;
  std::uint64_t id = 0;
  ProtoReader reader(field.bytes());
  bool is_good = charge(kTableEntryBytes);
  while (is_good && reader.next()) {
    switch (reader.field()) {
      case kId:
        id = reader.uint();
        break;
      // As pprof itself does, an unknown mapping is taken as none.
      case kMappingId:
        location.mapping = mapping_ids_.find(reader.uint());
        break;
      case kAddress:
        location.address = reader.uint();
        break;
      case kLine: {
        Line line;
        is_good = charge(sizeof(Line)) && parse_line(reader.bytes(), line);
        if (line.function != kNone) location.lines.push_back(line);
        break;
      }
      default:
        break;
    }
  }
  if (!is_good || reader.is_failed()) return false;
  judge_kind(location);
  if (!location_ids_.add(id, profile_.add_location(location))) {
    return fail("two locations have the same id, or one has none");
  }
  return true;
}

bool PprofReader::read_sample(const ProtoReader& field) {
  using namespace pprof::sample;
  Sample sample;
  sample.values.reserve(profile_.sample_types.size());
  ProtoReader reader(field.bytes());
  bool is_good = charge(sizeof(Sample) + 64);
  const auto add_location = [&](std::uint64_t id) {
    const LocationId location = location_ids_.find(id);
    if (location == kNone) return fail("a sample names a location that is not there");
    sample.locations.push_back(location);
    return charge(sizeof(LocationId));
  };
  const auto add_value = [&](std::uint64_t value) {
    if (sample.values.size() == profile_.sample_types.size()) {
      return fail("a sample has more values than there are sample types");
    }
    sample.values.push_back(static_cast<std::int64_t>(value));
    return charge(sizeof(std::int64_t));
  };
  while (is_good && reader.next()) {
    switch (reader.field()) {
      case kLocationId:
        is_good = reader.each_varint(add_location);
        break;
      case kValue:
        is_good = reader.each_varint(add_value);
        break;
      case kLabel:
        is_good = parse_label(reader.bytes(), sample);
        break;
      default:
        break;
    }
  }
  if (!is_good || reader.is_failed()) return false;
  if (sample.values.size() != profile_.sample_types.size() || sample.values.empty()) {
    return fail("a sample has fewer values than there are sample types");
  }
  profile_.samples.push_back(std::move(sample));
  return true;
}

bool PprofReader::parse_value_type(std::string_view bytes, ValueType& type) {
  ProtoReader reader(bytes);
  while (reader.next()) {
    const bool is_type = reader.field() == pprof::value_type::kType;
    if (!is_type && reader.field() != pprof::value_type::kUnit) continue;
    if (!text(reader.uint(), is_type ? type.type : type.unit)) return false;
  }
  return !reader.is_failed();
}

bool PprofReader::parse_line(std::string_view bytes, Line& line) {
  ProtoReader reader(bytes);
  std::uint64_t function = 0;
  while (reader.next()) {
    switch (reader.field()) {
      case pprof::line::kFunctionId:
        function = reader.uint();
        break;
      case pprof::line::kLine:
        line.line = reader.integer();
        break;
      case pprof::line::kColumn:
        line.column = reader.integer();
        break;
      default:
        break;
    }
  }
  if (function == 0) return !reader.is_failed();
  line.function = function_ids_.find(function);
  if (line.function == kNone) return fail("a location names a function that is not there");
  return !reader.is_failed();
}

// The model keeps one label a key; of a producer's several, the first.
bool PprofReader::parse_label(std::string_view bytes, Sample& sample) {
  using namespace pprof::label;
  Label label;
  ProtoReader reader(bytes);
  bool is_good = true;
  while (is_good && reader.next()) {
    switch (reader.field()) {
      case kKey:
        is_good = text(reader.uint(), label.key);
        break;
      case kText:
        is_good = text(reader.uint(), label.text);
        break;
      case kNumber:
        label.number = reader.integer();
        break;
      case kNumberUnit:
        is_good = text(reader.uint(), label.number_unit);
        break;
      default:
        break;
    }
  }
  if (!is_good || reader.is_failed()) return false;
  if (label.text != 0) label.number = 0;
  // The key is the unit of a number without one; see the writer.
  if (label.text != 0 || label.number_unit == label.key) label.number_unit = 0;
  const auto has_same_key = [&](const Label& other) { return other.key == label.key; };
  if (label.key == 0 || std::any_of(sample.labels.begin(), sample.labels.end(), has_same_key)) {
    return true;
  }
  if (sample.labels.size() == kMaximumLabels) return fail("a sample has too many labels");
  sample.labels.push_back(label);
  return charge(sizeof(Label));
}

void PprofReader::judge_kind(Location& location) const {
  FrameSigns signs;
  signs.address = location.address;
  if (location.mapping != kNone) {
    signs.mapping = profile_.text(profile_.mappings[location.mapping].filename);
  }
  if (!location.lines.empty()) {
    const Function& function = profile_.functions[location.lines.front().function];
    signs.name = profile_.text(function.name);
    signs.source_file = profile_.text(function.filename);
  }
  location.kind = judge_frame_kind(signs);
}

bool PprofReader::text(std::uint64_t index, StringId& id) {
  if (index >= strings_.size()) return fail("a string's number is beyond the string table");
  StringId& known = string_ids_[static_cast<std::size_t>(index)];
  if (known == kNone) {
    const std::string_view string = strings_[static_cast<std::size_t>(index)];
    if (!charge(kTableEntryBytes + string.size())) return false;
    known = profile_.intern(string);
  }
  id = known;
  return true;
}

bool PprofReader::charge(std::size_t bytes) {
  charged_bytes_ += bytes;
  return charged_bytes_ <= kMaximumModelBytes || fail("it is too large");
}

bool PprofReader::fail(std::string fault) {
  fault_ = std::move(fault);
  return false;
}

std::optional<Profile> read_pprof(std::string_view bytes, std::string* error) {
  std::string fault;
  std::optional<Profile> profile;
  if (bytes.empty()) {
    fault = "it is empty";
  } else if (is_gzip(bytes)) {
    const std::optional<std::string> inflated = gunzip(bytes, kMaximumInflatedBytes, &fault);
    if (inflated.has_value()) profile = PprofReader(*inflated).read(fault);
  } else {
    profile = PprofReader(bytes).read(fault);
  }
  if (!profile.has_value() && error != nullptr) *error = "not a readable pprof profile: " + fault;
  return profile;
}

}  // namespace lumbre::output
