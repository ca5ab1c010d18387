#include "userspace/cli/merge.h"

#include <algorithm>

#include "userspace/cli/profile_file.h"

namespace lumbre {
namespace {

bool has_same_types(const output::Profile& a, const output::Profile& b) {
  return std::equal(a.sample_types.begin(), a.sample_types.end(), b.sample_types.begin(),
                    b.sample_types.end(), [&](const auto& left, const auto& right) {
                      return a.text(left.type) == b.text(right.type) &&
                             a.text(left.unit) == b.text(right.unit);
                    });
}

class Merger {
 public:
  Merger(const output::Profile& from, output::Profile& to) : from_(from), to_(to) {
    for (output::Mapping mapping : from.mappings) {
      mapping.filename = copy(mapping.filename);
      mapping.build_id = copy(mapping.build_id);
      mappings_.push_back(to.add_mapping(mapping));
    }
    for (const output::Function& function : from.functions) {
      functions_.push_back(to.add_function({copy(function.name), copy(function.system_name),
                                            copy(function.filename), function.start_line}));
    }
    for (output::Location location : from.locations) {
      location.mapping =
          location.mapping == output::kNone ? output::kNone : mappings_[location.mapping];
      for (output::Line& line : location.lines) {
        line.function = functions_[line.function];
      }
      locations_.push_back(to.add_location(location));
    }
  }

  void add_samples() {
    for (output::Sample sample : from_.samples) {
      for (output::LocationId& location : sample.locations) {
        location = locations_[location];
      }
      for (output::Label& label : sample.labels) {
        label = {copy(label.key), copy(label.text), label.number, copy(label.number_unit)};
      }
      to_.samples.push_back(std::move(sample));
    }
    for (const output::StringId comment : from_.comments) {
      to_.comments.push_back(copy(comment));
    }
    to_.duration_nanos += from_.duration_nanos;
  }

 private:
  output::StringId copy(output::StringId id) { return to_.intern(from_.text(id)); }

  const output::Profile& from_;
  output::Profile& to_;
  std::vector<output::MappingId> mappings_;
  std::vector<output::FunctionId> functions_;
  std::vector<output::LocationId> locations_;
};

}  // namespace

Result<output::Profile> read_merged(const std::vector<std::string>& inputs,
                                    const std::string& event) {
  LUMBRE_TRY_ASSIGN(output::Profile merged, read_profile(inputs.front(), event));
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    LUMBRE_TRY_ASSIGN(const output::Profile next, read_profile(inputs[i], event));
    if (!has_same_types(merged, next)) {
      return Error::usage("cannot add up " + inputs.front() + " and " + inputs[i] +
                          ": they measure different things");
    }
    Merger(next, merged).add_samples();
  }
  return merged;
}

}  // namespace lumbre
