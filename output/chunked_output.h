// ChunkedOutput: a text or byte buffer in front of a stream, handed on in large chunks, so that a
// writer neither holds its whole output nor pays the stream's cost for every few bytes. One thread.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace lumbre::output {

class ChunkedOutput {
 public:
  explicit ChunkedOutput(std::ostream& out) : out_(out) {}

  // For appending in place; call settle() now and then.
  std::string& buffer() { return buffer_; }
  ChunkedOutput& operator<<(std::string_view text) {
    buffer_.append(text);
    return *this;
  }
  ChunkedOutput& operator<<(std::int64_t number) { return *this << std::to_string(number); }

  void settle() {
    if (buffer_.size() >= kChunkBytes) write_out();
  }
  // Writes the rest; false when the stream failed at any time.
  bool finish() {
    write_out();
    return out_.flush().good();
  }

 private:
  static constexpr std::size_t kChunkBytes = 256 * 1024;

  void write_out() {
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::ostream& out_;
  std::string buffer_;
};

}  // namespace lumbre::output
