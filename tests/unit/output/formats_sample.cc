#include "tests/unit/output/formats_sample.h"

#include <sstream>

#include "output/formats.h"
#include "output/frame_kinds.h"

namespace lumbre::output {
namespace {

class Builder {
 public:
  MappingId mapping(std::string_view file, std::string_view build_id, std::uint64_t start,
                    std::uint64_t limit, std::uint64_t offset = 0) {
    Mapping mapping;
    mapping.memory_start = start;
    mapping.memory_limit = limit;
    mapping.file_offset = offset;
    mapping.filename = profile.intern(file);
    mapping.build_id = profile.intern(build_id);
    return profile.add_mapping(mapping);
  }
  Line line(std::string_view name, std::string_view system_name, std::string_view file,
            std::int64_t line, std::int64_t column = 0) {
    Function function;
    function.name = profile.intern(name);
    function.system_name = profile.intern(system_name);
    function.filename = profile.intern(file);
    return {.function = profile.add_function(function), .line = line, .column = column};
  }
  LocationId location(FrameKind kind, MappingId mapping, std::uint64_t address,
                      std::vector<Line> lines) {
    Location location;
    location.mapping = mapping;
    location.address = address;
    location.lines = std::move(lines);
    location.kind = kind;
    return profile.add_location(location);
  }
  Label number(std::string_view key, std::int64_t value) {
    return {.key = profile.intern(key), .number = value};
  }
  Label text(std::string_view key, std::string_view value) {
    return {.key = profile.intern(key), .text = profile.intern(value)};
  }
  void header() {
    profile.sample_types = {{profile.intern("samples"), profile.intern("count")},
                            {profile.intern("cpu"), profile.intern("nanoseconds")}};
    profile.default_sample_type = profile.intern("cpu");
    profile.period_type = profile.sample_types[1];
    profile.period = 10101010;
    profile.time_nanos = 1'700'000'000'000'000'000;
    profile.duration_nanos = 10'000'000'000;
  }

  Profile profile;
};

}  // namespace

Profile make_sample_profile() {
  Builder b;
  b.header();
  b.profile.comments = {b.profile.intern("lost: 3 (ring buffer full)")};
  const MappingId main = b.mapping("/usr/bin/trainer", "c0ffee01", 0x400000, 0x600000);
  const MappingId mkl =
      b.mapping("/usr/lib/libmkl.so", "beef02", 0x7f0000000000, 0x7f0000100000, 0x2000);
  const MappingId kernel =
      b.mapping("[kernel.kallsyms]", "", 0xffffffff80000000, ~std::uint64_t{0});
  const LocationId start =
      b.location(FrameKind::kNative, main, 0x400100, {b.line("_start", "_start", "", 0)});
  const LocationId step = b.location(FrameKind::kPython, kNone, 0,
                                     {b.line("Trainer.step", "Trainer.step", "train.py", 42)});
  const LocationId matmul =
      b.location(FrameKind::kNative, main, 0x400200,
                 {b.line("dot", "dot(float const*, float const*)", "dot.h", 7, 3),
                  b.line("at::matmul", "at::matmul(at::Tensor const&)", "matmul.cpp", 120, 11)});
  const LocationId hand_written =
      b.location(FrameKind::kUnknown, mkl, 0x7f0000000010, {b.line("libmkl.so+0x2010", "", "", 0)});
  const LocationId jit =
      b.location(FrameKind::kJit, kNone, 0x7fff00000000, {b.line("[jit]", "", "", 0)});
  const LocationId copy = b.location(FrameKind::kKernel, kernel, 0xffffffff81000010,
                                     {b.line("copy_user_generic", "copy_user_generic", "", 0)});
  const LocationId truncated = b.location(FrameKind::kTruncated, kNone, 0,
                                          {b.line("[truncated: no unwind data]", "", "", 0)});
  const std::vector<Label> main_thread = {b.number("pid", 4242), b.number("tid", 4242),
                                          b.text("process", "python3"),
                                          b.text("thread", "MainThread"), b.number("rank", 0)};
  const std::vector<Label> worker = {b.number("pid", 4242), b.number("tid", 4250),
                                     b.text("process", "python3"), b.text("thread", "worker")};
  b.profile.samples = {{{copy, matmul, step, start}, {3, 30303030}, main_thread},
                       {{hand_written, matmul, step, start}, {1, 10101010}, main_thread},
                       {{jit, truncated}, {2, 20202020}, worker}};
  return std::move(b.profile);
}

Profile make_stack_profile(const std::vector<std::string>& names) {
  Builder b;
  b.header();
  const MappingId main = b.mapping("/usr/bin/trainer", "c0ffee01", 0x400000, 0x600000);
  Sample sample;
  std::uint64_t address = 0x400000;
  for (const std::string& name : names) {
    sample.locations.insert(
        sample.locations.begin(),
        b.location(FrameKind::kNative, main, address++, {b.line(name, name, name, 1)}));
  }
  sample.values = {1, 10};
  sample.labels = {b.number("pid", 1), b.number("tid", 2)};
  b.profile.samples.push_back(sample);
  return std::move(b.profile);
}

namespace {

std::string_view kind_name(FrameKind kind) {
  switch (kind) {
    case FrameKind::kPython:
      return "python";
    case FrameKind::kNative:
      return "native";
    case FrameKind::kKernel:
      return "kernel";
    case FrameKind::kJit:
      return "jit";
    case FrameKind::kUnknown:
      return "unknown";
    case FrameKind::kTruncated:
      return "truncated";
    case FrameKind::kBlocked:
      return "blocked";
    case FrameKind::kRunnable:
      return "runnable";
  }
  return "?";
}

void describe_location(const Profile& p, const Location& location, std::ostream& out) {
  out << "  " << kind_name(location.kind) << " 0x" << std::hex << location.address << std::dec;
  if (location.mapping == kNone) {
    out << " " << mapping_for_kind(location.kind);
  } else {
    const Mapping& mapping = p.mappings[location.mapping];
    out << " " << p.text(mapping.filename);
    // What a writer adds for a kind has no range, and no build id.
    if (mapping.memory_start != 0) {
      out << "@" << std::hex << mapping.memory_start << "-" << mapping.memory_limit << "+"
          << mapping.file_offset << std::dec << "#" << p.text(mapping.build_id);
    }
  }
  for (const Line& line : location.lines) {
    const Function& function = p.functions[line.function];
    out << " | " << p.text(function.name) << " = " << p.text(function.system_name) << " "
        << p.text(function.filename) << ":" << line.line << ":" << line.column;
  }
  out << "\n";
}

}  // namespace

std::string describe(const Profile& p) {
  std::ostringstream out;
  for (const ValueType& type : p.sample_types) {
    out << p.text(type.type) << "/" << p.text(type.unit) << "\n";
  }
  out << "default " << p.text(p.default_sample_type) << ", period " << p.period << " "
      << p.text(p.period_type.type) << "/" << p.text(p.period_type.unit) << ", at " << p.time_nanos
      << " for " << p.duration_nanos << "\n";
  for (const StringId comment : p.comments) out << "comment " << p.text(comment) << "\n";
  for (const Sample& sample : p.samples) {
    out << "sample";
    for (const std::int64_t value : sample.values) out << " " << value;
    for (const Label& label : sample.labels) {
      out << " " << p.text(label.key) << "=" << p.text(label.text) << label.number
          << p.text(label.number_unit);
    }
    out << "\n";
    for (const LocationId id : sample.locations) describe_location(p, p.locations[id], out);
  }
  return out.str();
}

std::string pprof_bytes(const Profile& profile) {
  std::ostringstream out;
  return write_pprof(profile, out) ? out.str() : "";
}

std::string folded_text(const Profile& profile, std::uint32_t sample_type) {
  std::ostringstream out;
  return write_folded(profile, sample_type, out) ? out.str() : "";
}

}  // namespace lumbre::output
