#include "userspace/cli/profile_file.h"

#include <sys/stat.h>

#include <cstdio>

#include "output/flamegraph.h"
#include "output/formats.h"
#include "output/svg.h"
#include "symbolizer/base/mapped_file.h"
#include "userspace/cli/output_file.h"

namespace lumbre {
namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_folder(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string subtitle_of(const output::Profile& profile) {
  std::string text;
  for (const output::StringId comment : profile.comments) {
    text += (text.empty() ? "" : "; ") + profile.text(comment);
  }
  return text;
}

bool draw(const output::Profile& profile, FileFormat format, std::uint32_t metric,
          const DrawOptions& options, std::ostream& out) {
  output::FlamegraphOptions layout;
  layout.sample_type = metric;
  layout.is_inverted = options.is_inverted;
  output::SvgOptions svg;
  svg.title = options.title;
  svg.subtitle = subtitle_of(profile);
  svg.unit = profile.text(profile.sample_types[metric].unit);
  svg.metric = profile.text(profile.sample_types[metric].type);
  svg.empty_hint =
      "No samples: the target slept or waited all the time, or nothing of it was recorded.";
  svg.is_inverted = options.is_inverted;
  svg.is_differential = options.base != nullptr;
  const output::Flamegraph graph =
      options.base == nullptr ? output::layout_flamegraph(profile, layout)
                              : output::layout_differential(profile, *options.base, layout);
  return format == FileFormat::kHtml ? output::write_html(graph, profile, svg, out)
                                     : output::write_svg(graph, profile, svg, out);
}

}  // namespace

std::optional<FileFormat> format_of(const std::string& path) {
  const std::string name = last_part(path);
  if (name.ends_with(".pb.gz") || name.ends_with(".pb")) {
    return FileFormat::kPprof;
  }
  if (name.ends_with(".svg")) {
    return FileFormat::kSvg;
  }
  if (name.ends_with(".folded")) {
    return FileFormat::kFolded;
  }
  if (name.ends_with(".speedscope.json")) {
    return FileFormat::kSpeedscope;
  }
  return name.ends_with(".html") ? std::optional(FileFormat::kHtml) : std::nullopt;
}

bool is_folder_name(const std::string& path) {
  return !path.empty() && path != "-" && last_part(path).find('.') == std::string::npos;
}

Result<output::Profile> read_profile(const std::string& input, const std::string& event) {
  const std::string path = is_folder(input) ? input + "/" + event + ".pb.gz" : input;
  LUMBRE_TRY_ASSIGN(const MappedFile file, MappedFile::open(path));
  const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()),
                               file.bytes().size());
  std::string why;
  std::optional<output::Profile> profile = format_of(path) == FileFormat::kFolded
                                               ? output::read_folded(bytes, &why)
                                               : output::read_pprof(bytes, &why);
  if (!profile.has_value()) {
    return Error::malformed("cannot read " + path + " as a profile: " + why +
                            "; give a recording folder, a pprof file or folded stacks (.folded)");
  }
  return std::move(*profile);
}

Result<std::uint32_t> find_metric(const output::Profile& profile, const std::string& metric) {
  const std::uint32_t index = profile.find_sample_type(metric);
  if (index != output::kNone) {
    return index;
  }
  std::string known;
  for (const output::ValueType& type : profile.sample_types) {
    known += (known.empty() ? "" : ", ") + profile.text(type.type);
  }
  return Error::usage("no metric '" + metric + "' in this profile; it has " + known);
}

Result<void> write_profile(const output::Profile& profile, FileFormat format,
                           const std::string& path, const DrawOptions& options) {
  LUMBRE_TRY_ASSIGN(const std::uint32_t metric, find_metric(profile, options.metric));
  return write_output_file(path, [&](std::ostream& out) {
    switch (format) {
      case FileFormat::kPprof:
        return output::write_pprof(profile, out);
      case FileFormat::kFolded:
        return output::write_folded(profile, metric, out);
      case FileFormat::kSpeedscope:
        return output::write_speedscope(profile, metric, options.title, out);
      default:
        return draw(profile, format, metric, options, out);
    }
  });
}

}  // namespace lumbre
