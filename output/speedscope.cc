// Writes speedscope's file format (github.com/jlfwong/speedscope, src/lib/file-format-spec.ts).

#include <algorithm>
#include <map>

#include "output/chunked_output.h"
#include "output/formats.h"
#include "output/json_text.h"
#include "output/stack_frames.h"

namespace lumbre::output {
namespace {

struct ThreadKey {
  std::int64_t pid = 0, tid = 0;
  StringId process = 0, thread = 0;
  auto operator<=>(const ThreadKey&) const = default;
};

struct ThreadSamples {
  ThreadKey key;
  std::vector<const Sample*> samples;  // with a value above 0
  std::int64_t total = 0;
};

// speedscope knows these units; others it would show as bare numbers, which is "none".
std::string_view speedscope_unit(std::string_view unit) {
  for (const std::string_view known :
       {"nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}) {
    if (unit == known) return known;
  }
  return "none";
}

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Profile& profile, std::uint32_t sample_type, std::ostream& out)
      : profile_(profile), sample_type_(sample_type), output_(out) {}

  bool write(std::string_view title);

 private:
  ThreadKey key_of(const Sample& sample) const;
  void group_by_thread();
  void write_frames();
  void write_frame(const FrameView& frame);
  void write_thread(const ThreadSamples& thread);
  void write_stack(const Sample& sample);
  std::string thread_title(const ThreadKey& key) const;
  std::int64_t value_of(const Sample& sample) const {
    return sample_type_ < sample.values.size() ? sample.values[sample_type_] : 0;
  }

  const Profile& profile_;
  const std::uint32_t sample_type_;
  ChunkedOutput output_;
  std::vector<ThreadSamples> threads_;
  // "3,7,9": the frame indices of each location, outermost first.
  std::vector<std::string> location_frames_;
};

bool SpeedscopeWriter::write(std::string_view title) {
  group_by_thread();
  output_ << R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":)"
          << R"("lumbre","name":)";
  append_json_string(output_.buffer(), title);
  const auto heaviest = std::max_element(
      threads_.begin(), threads_.end(),
      [](const ThreadSamples& a, const ThreadSamples& b) { return a.total < b.total; });
  output_ << R"(,"activeProfileIndex":)" << std::int64_t{heaviest - threads_.begin()};
  output_ << ",\n\"shared\":{\"frames\":[";
  write_frames();
  output_ << "]},\n\"profiles\":[";
  for (const ThreadSamples& thread : threads_) {
    if (&thread != &threads_.front()) output_ << ",";
    write_thread(thread);
  }
  output_ << "]}\n";
  return output_.finish();
}

ThreadKey SpeedscopeWriter::key_of(const Sample& sample) const {
  ThreadKey key;
  for (const Label& label : sample.labels) {
    const std::string& name = profile_.text(label.key);
    if (name == "pid") key.pid = label.number;
    if (name == "tid") key.tid = label.number;
    if (name == "process") key.process = label.text;
    if (name == "thread") key.thread = label.text;
  }
  return key;
}

// A viewer needs one profile at least, so that of an empty recording is there, without samples.
void SpeedscopeWriter::group_by_thread() {
  std::map<ThreadKey, ThreadSamples> threads;
  for (const Sample& sample : profile_.samples) {
    if (value_of(sample) <= 0) continue;
    ThreadSamples& thread = threads[key_of(sample)];
    thread.samples.push_back(&sample);
    thread.total += value_of(sample);
  }
  for (auto& [key, thread] : threads) {
    thread.key = key;
    threads_.push_back(std::move(thread));
  }
  if (threads_.empty()) threads_.emplace_back();
}

void SpeedscopeWriter::write_frames() {
  std::map<std::string, std::size_t> indices;  // of a frame's JSON
  ChunkedOutput& output = output_;
  for (const Location& location : profile_.locations) {
    std::string& frames = location_frames_.emplace_back();
    each_frame(profile_, location, [&](const FrameView& frame) {
      std::string& buffer = output.buffer();
      const std::size_t start = buffer.size();
      if (!indices.empty()) buffer.append(",\n");
      const std::size_t text_start = buffer.size();
      write_frame(frame);
      const auto [entry, is_new] = indices.emplace(buffer.substr(text_start), indices.size());
      if (!is_new) buffer.resize(start);
      if (!frames.empty()) frames.push_back(',');
      frames.append(std::to_string(entry->second));
    });
    output.settle();
  }
}

void SpeedscopeWriter::write_frame(const FrameView& frame) {
  output_ << R"({"name":)";
  append_json_string(output_.buffer(), frame.name);
  if (!frame.file.empty()) {
    output_ << R"(,"file":)";
    append_json_string(output_.buffer(), frame.file);
  }
  if (frame.line > 0) output_ << R"(,"line":)" << frame.line;
  if (frame.column > 0) output_ << R"(,"col":)" << frame.column;
  output_ << "}";
}

void SpeedscopeWriter::write_thread(const ThreadSamples& thread) {
  const std::string_view unit =
      sample_type_ < profile_.sample_types.size()
          ? speedscope_unit(profile_.text(profile_.sample_types[sample_type_].unit))
          : "none";
  output_ << "{\"type\":\"sampled\",\"name\":";
  append_json_string(output_.buffer(), thread_title(thread.key));
  output_ << R"(,"unit":")" << unit << R"(","startValue":0,"endValue":)" << thread.total;
  output_ << ",\n\"samples\":[";
  for (const Sample* sample : thread.samples) {
    if (sample != thread.samples.front()) output_ << ",";
    write_stack(*sample);
    output_.settle();
  }
  output_ << "],\n\"weights\":[";
  for (const Sample* sample : thread.samples) {
    if (sample != thread.samples.front()) output_ << ",";
    output_ << value_of(*sample);
    output_.settle();
  }
  output_ << "]}";
}

void SpeedscopeWriter::write_stack(const Sample& sample) {
  output_ << "[";
  bool is_first = true;
  for (std::size_t i = sample.locations.size(); i-- > 0;) {
    if (sample.locations[i] >= location_frames_.size()) continue;
    if (!is_first) output_ << ",";
    output_ << location_frames_[sample.locations[i]];
    is_first = false;
  }
  output_ << "]";
}

std::string SpeedscopeWriter::thread_title(const ThreadKey& key) const {
  if (key == ThreadKey{}) return "all";
  const auto part = [&](StringId name, std::int64_t number) {
    const std::string& text = profile_.text(name);
    return text + (text.empty() ? "" : " ") + "(" + std::to_string(number) + ")";
  };
  return part(key.process, key.pid) + " / " + part(key.thread, key.tid);
}

}  // namespace

bool write_speedscope(const Profile& profile, std::uint32_t sample_type, std::string_view title,
                      std::ostream& out) {
  return SpeedscopeWriter(profile, sample_type, out).write(title);
}

}  // namespace lumbre::output
