// gzip (RFC 1952) over zlib: a stream writer, and a reader that stops at a size limit.
//
// The writer's bytes depend on its input alone (no time, no name). The reader takes files of
// several members, as gzip itself does, and grows its result as data comes, never by a length the
// file claims. One thread per object.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace lumbre::output {

class GzipWriter {
 public:
  explicit GzipWriter(std::ostream& out);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  // False when compressing or the stream failed; further calls stay false.
  bool write(std::string_view data);
  // Writes what is left and the trailer; call once, last.
  bool finish();

 private:
  struct State;
  bool pump(std::string_view data, int flush);

  std::ostream& out_;
  std::unique_ptr<State> state_;
  bool is_good_ = true;
};

bool is_gzip(std::string_view bytes);
// The content of a gzip file, at most `limit` bytes of it; beyond that it is an error.
std::optional<std::string> gunzip(std::string_view bytes, std::size_t limit, std::string* error);

}  // namespace lumbre::output
