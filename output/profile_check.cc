#include <string>

#include "output/formats.h"

namespace lumbre::output {
namespace {

class ProfileCheck {
 public:
  explicit ProfileCheck(const Profile& profile) : profile_(profile) {}

  std::string first_fault() const;

 private:
  std::string check_sample_types() const;
  std::string check_header() const;
  std::string check_mappings() const;
  std::string check_functions() const;
  std::string check_locations() const;
  std::string check_location(const Location& location) const;
  std::string check_samples() const;
  std::string check_sample(const Sample& sample) const;
  std::string check_labels(const Sample& sample) const;
  std::string check_label(const Label& label) const;

  bool is_string(StringId id) const { return id < profile_.string_count(); }
  bool is_named(StringId id) const { return is_string(id) && !profile_.text(id).empty(); }

  const Profile& profile_;
};

// Counts from 1, as the ids in a pprof file do.
std::string at(std::string_view what, std::size_t index, std::string_view fault) {
  std::string sentence(what);
  sentence.append(" ").append(std::to_string(index + 1)).append(" ").append(fault);
  return sentence;
}

std::string ProfileCheck::first_fault() const {
  using Part = std::string (ProfileCheck::*)() const;
  for (const Part part : {&ProfileCheck::check_sample_types, &ProfileCheck::check_header,
                          &ProfileCheck::check_mappings, &ProfileCheck::check_functions,
                          &ProfileCheck::check_locations, &ProfileCheck::check_samples}) {
    std::string fault = (this->*part)();
    if (!fault.empty()) return fault;
  }
  return "";
}

std::string ProfileCheck::check_sample_types() const {
  if (profile_.sample_types.empty()) return "there is no sample type";
  for (std::size_t i = 0; i < profile_.sample_types.size(); ++i) {
    const ValueType& type = profile_.sample_types[i];
    if (!is_named(type.type)) return at("sample type", i, "has no name");
    if (!is_named(type.unit)) return at("sample type", i, "has no unit");
    for (std::size_t j = 0; j < i; ++j) {
      if (profile_.sample_types[j].type == type.type) {
        return at("sample type", i, "has the name of an earlier one");
      }
    }
  }
  if (profile_.default_sample_type != profile_.sample_types.back().type) {
    return "the default sample type is not the last one";
  }
  return "";
}

std::string ProfileCheck::check_header() const {
  if (!is_named(profile_.period_type.type) || !is_named(profile_.period_type.unit)) {
    return "the period has no type or unit";
  }
  if (profile_.period <= 0) return "the period is not set";
  if (profile_.time_nanos <= 0) return "the time of the start is not set";
  if (profile_.duration_nanos <= 0) return "the duration is not set";
  for (const StringId comment : profile_.comments) {
    if (!is_string(comment)) return "a comment is not in the string table";
  }
  return "";
}

std::string ProfileCheck::check_mappings() const {
  bool has_file = false;
  for (std::size_t i = 0; i < profile_.mappings.size(); ++i) {
    const Mapping& mapping = profile_.mappings[i];
    if (!is_named(mapping.filename)) return at("mapping", i, "has no file name");
    if (!is_string(mapping.build_id)) return at("mapping", i, "has a build id out of range");
    if (mapping.memory_limit < mapping.memory_start && mapping.memory_limit != 0) {
      return at("mapping", i, "ends before it starts");
    }
    has_file = has_file || profile_.text(mapping.filename).front() != '[';
  }
  // pprof takes the first mapping for the program's.
  if (has_file && profile_.text(profile_.mappings.front().filename).front() == '[') {
    return "mapping 1 is not the main program";
  }
  return "";
}

std::string ProfileCheck::check_functions() const {
  for (std::size_t i = 0; i < profile_.functions.size(); ++i) {
    const Function& function = profile_.functions[i];
    if (!is_named(function.name)) return at("function", i, "has no name");
    if (!is_string(function.system_name) || !is_string(function.filename)) {
      return at("function", i, "has a string out of range");
    }
  }
  return "";
}

std::string ProfileCheck::check_locations() const {
  for (std::size_t i = 0; i < profile_.locations.size(); ++i) {
    const std::string fault = check_location(profile_.locations[i]);
    if (!fault.empty()) return at("location", i, fault);
  }
  return "";
}

std::string ProfileCheck::check_location(const Location& location) const {
  if (location.lines.empty()) return "has no name";
  for (const Line& line : location.lines) {
    if (line.function >= profile_.functions.size()) return "names a function that is not there";
    if (line.line < 0 || line.column < 0) return "has a negative line or column";
  }
  if (location.mapping == kNone) return "";
  if (location.mapping >= profile_.mappings.size()) return "names a mapping that is not there";
  const Mapping& mapping = profile_.mappings[location.mapping];
  const bool is_inside = location.address >= mapping.memory_start &&
                         (location.address < mapping.memory_limit || mapping.memory_limit == 0);
  return is_inside ? "" : "has an address outside its mapping";
}

std::string ProfileCheck::check_samples() const {
  for (std::size_t i = 0; i < profile_.samples.size(); ++i) {
    std::string fault = check_sample(profile_.samples[i]);
    if (fault.empty()) fault = check_labels(profile_.samples[i]);
    if (!fault.empty()) return at("sample", i, fault);
  }
  return "";
}

std::string ProfileCheck::check_sample(const Sample& sample) const {
  if (sample.values.size() != profile_.sample_types.size()) {
    return "has not one value for each sample type";
  }
  if (sample.locations.empty()) return "has no frames";
  for (const LocationId location : sample.locations) {
    if (location >= profile_.locations.size()) return "names a location that is not there";
  }
  return "";
}

std::string ProfileCheck::check_labels(const Sample& sample) const {
  bool has_pid = false, has_tid = false;
  for (std::size_t i = 0; i < sample.labels.size(); ++i) {
    const Label& label = sample.labels[i];
    std::string fault = check_label(label);
    if (!fault.empty()) return fault;
    for (std::size_t j = 0; j < i; ++j) {
      if (sample.labels[j].key == label.key) {
        return "has the label " + profile_.text(label.key) + " twice";
      }
    }
    has_pid = has_pid || profile_.text(label.key) == "pid";
    has_tid = has_tid || profile_.text(label.key) == "tid";
  }
  return has_pid && has_tid ? "" : "lacks the label pid or tid";
}

std::string ProfileCheck::check_label(const Label& label) const {
  if (!is_named(label.key)) return "has a label without a key";
  const std::string& key = profile_.text(label.key);
  if (key.starts_with("pprof::")) return "has a label whose key is reserved: " + key;
  if (!is_string(label.text) || !is_string(label.number_unit)) {
    return "has a label with a string out of range: " + key;
  }
  const bool is_number = label.text == 0;
  if ((key == "pid" || key == "tid" || key == "host_pid") && !is_number) {
    return "has a text where a number belongs in the label " + key;
  }
  if ((key == "process" || key == "thread") && is_number) {
    return "has no text in the label " + key;
  }
  return "";
}

}  // namespace

std::string check_profile(const Profile& profile) { return ProfileCheck(profile).first_fault(); }

}  // namespace lumbre::output
