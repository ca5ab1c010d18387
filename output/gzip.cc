#include "output/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace lumbre::output {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, in zlib's gzip mode
constexpr std::size_t kChunk = 256 * 1024;
// zlib's counters are 32 bits wide.
constexpr std::size_t kMaximumInput = 1u << 30;

Bytef* input_pointer(std::string_view data) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));  // zlib only reads it
}

// Inflates the members of one file, one after the other.
class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : rest_(bytes) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready_) inflateEnd(&stream_);
  }

  // Appends the next member's content to `content`; "" or what is wrong.
  std::string next_member(std::size_t limit, std::string& content);
  // As gzip does, trailing bytes that start no member are ignored.
  bool has_more() const {
    return is_gzip(
        std::string_view(rest_.data() - stream_.avail_in, rest_.size() + stream_.avail_in));
  }

 private:
  void feed();

  std::string_view rest_;  // not handed to zlib yet
  z_stream stream_{};
  bool is_ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  std::string chunk_ = std::string(kChunk, '\0');
};

void Inflater::feed() {
  if (stream_.avail_in != 0) return;
  const std::string_view part = rest_.substr(0, kMaximumInput);
  stream_.next_in = input_pointer(part);
  stream_.avail_in = static_cast<uInt>(part.size());
  rest_.remove_prefix(part.size());
}

std::string Inflater::next_member(std::size_t limit, std::string& content) {
  if (!is_ready_ || inflateReset(&stream_) != Z_OK) return "zlib could not be started";
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    feed();
    stream_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
    stream_.avail_out = static_cast<uInt>(chunk_.size());
    status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_BUF_ERROR) return "the gzip data ends early";
    if (status != Z_OK && status != Z_STREAM_END) return "the gzip data is damaged";
    const std::size_t produced = chunk_.size() - stream_.avail_out;
    if (produced > limit - content.size()) return "it is too large once inflated";
    content.append(chunk_, 0, produced);
  }
  return "";
}

}  // namespace

struct GzipWriter::State {
  z_stream stream{};
  std::array<char, kChunk> buffer;
};

// Level 1: a profile's ids compress nearly as well as at 6, in a quarter of the time.
GzipWriter::GzipWriter(std::ostream& out) : out_(out), state_(std::make_unique<State>()) {
  is_good_ =
      deflateInit2(&state_->stream, 1, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

GzipWriter::~GzipWriter() { deflateEnd(&state_->stream); }

bool GzipWriter::write(std::string_view data) {
  while (is_good_ && !data.empty()) {
    const std::string_view part = data.substr(0, kMaximumInput);
    data.remove_prefix(part.size());
    is_good_ = pump(part, Z_NO_FLUSH);
  }
  return is_good_;
}

bool GzipWriter::finish() {
  is_good_ = is_good_ && pump({}, Z_FINISH) && out_.flush().good();
  return is_good_;
}

bool GzipWriter::pump(std::string_view data, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = input_pointer(data);
  stream.avail_in = static_cast<uInt>(data.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->buffer.data());
    stream.avail_out = kChunk;
    if (deflate(&stream, flush) == Z_STREAM_ERROR) return false;
    out_.write(state_->buffer.data(), static_cast<std::streamsize>(kChunk - stream.avail_out));
  } while (stream.avail_out == 0 && out_.good());
  return out_.good();
}

bool is_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && bytes[0] == '\x1F' && bytes[1] == '\x8B';
}

std::optional<std::string> gunzip(std::string_view bytes, std::size_t limit, std::string* error) {
  Inflater inflater(bytes);
  std::string content;
  do {
    std::string fault = inflater.next_member(limit, content);
    if (!fault.empty()) {
      if (error != nullptr) *error = std::move(fault);
      return std::nullopt;
    }
  } while (inflater.has_more());
  return content;
}

}  // namespace lumbre::output
