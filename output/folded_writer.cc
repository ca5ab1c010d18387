#include <algorithm>
#include <unordered_map>

#include "output/chunked_output.h"
#include "output/formats.h"
#include "output/stack_frames.h"
#include "output/utf8.h"

namespace lumbre::output {
namespace {

// The marks that flamegraph.pl and its successors colour by.
std::string_view mark_of(FrameKind kind, bool is_inlined) {
  if (kind == FrameKind::kKernel) return "_[k]";
  if (kind == FrameKind::kJit) return "_[j]";
  return is_inlined ? "_[i]" : "";
}

// A frame's name without what separates frames and lines.
void append_name(std::string& out, std::string_view name) {
  const std::size_t start = out.size();
  append_valid_utf8(out, name);
  for (std::size_t i = start; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (out[i] == ';') out[i] = ':';
    if (byte < 0x20 || byte == 0x7F) out[i] = ' ';
  }
}

// "outer;inner" of one location. Many samples share few locations, so these are made once.
std::string fold_location(const Profile& profile, const Location& location) {
  std::string text;
  each_frame(profile, location, [&](const FrameView& frame) {
    if (!text.empty()) text.push_back(';');
    append_name(text, frame.name);
    text.append(mark_of(location.kind, frame.is_inlined));
  });
  return text;
}

std::string fold_stack(const Sample& sample, const std::vector<std::string>& locations) {
  std::string text;
  for (std::size_t i = sample.locations.size(); i-- > 0;) {
    if (sample.locations[i] >= locations.size()) continue;
    if (!text.empty()) text.push_back(';');
    text.append(locations[sample.locations[i]]);
  }
  return text.empty() ? "[unknown]" : text;
}

}  // namespace

bool write_folded(const Profile& profile, std::uint32_t sample_type, std::ostream& out) {
  std::vector<std::string> locations;
  locations.reserve(profile.locations.size());
  for (const Location& location : profile.locations) {
    locations.push_back(fold_location(profile, location));
  }
  std::unordered_map<std::string, std::int64_t> stacks;
  for (const Sample& sample : profile.samples) {
    if (sample_type >= sample.values.size() || sample.values[sample_type] == 0) continue;
    stacks[fold_stack(sample, locations)] += sample.values[sample_type];
  }
  std::vector<const std::pair<const std::string, std::int64_t>*> lines;
  lines.reserve(stacks.size());
  for (const auto& stack : stacks) lines.push_back(&stack);
  std::sort(lines.begin(), lines.end(), [](auto* a, auto* b) { return a->first < b->first; });
  ChunkedOutput output(out);
  for (const auto* line : lines) {
    output << line->first << " " << line->second << "\n";
    output.settle();
  }
  return output.finish();
}

}  // namespace lumbre::output
