// Profiles in files: which format an ending means, reading any INPUT, writing any output.
#pragma once

#include <optional>
#include <string>

#include "output/profile.h"
#include "symbolizer/base/result.h"

namespace lumbre {

enum class FileFormat { kPprof, kSvg, kFolded, kSpeedscope, kHtml };

// By the ending of the last part of the path: .pb.gz, .pb, .svg, .folded, .speedscope.json, .html.
std::optional<FileFormat> format_of(const std::string& path);
// A name without a dot in its last part means a recording folder.
bool is_folder_name(const std::string& path);

// A recording folder (its EVENT.pb.gz), or a pprof or folded file of any producer.
Result<output::Profile> read_profile(const std::string& input, const std::string& event);

struct DrawOptions {
  std::string title;
  std::string metric;  // sample type; "" is the default one
  bool is_inverted = false;
  const output::Profile* base = nullptr;
};

// The sample type's index, or an error that lists those there are.
Result<std::uint32_t> find_metric(const output::Profile& profile, const std::string& metric);
Result<void> write_profile(const output::Profile& profile, FileFormat format,
                           const std::string& path, const DrawOptions& options);

}  // namespace lumbre
