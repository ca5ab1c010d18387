#include "symbolizer/procfs/maps.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "symbolizer/procfs/read_file.h"

namespace lumbre {
namespace {

// A cursor over one line; any mismatch makes all later steps fail.
class LineCursor {
 public:
  explicit LineCursor(std::string_view line) : rest_(line) {}

  template <typename T>
  T number(int base) {
    T value = 0;
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (result.ec != std::errc()) {
      failed_ = true;
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
    return value;
  }
  void expect(char c) {
    if (rest_.empty() || rest_.front() != c) {
      failed_ = true;
      return;
    }
    rest_.remove_prefix(1);
  }
  bool take_flag(char set) {
    const bool is_set = !rest_.empty() && rest_.front() == set;
    failed_ = failed_ || rest_.empty();
    rest_.remove_prefix(rest_.empty() ? 0 : 1);
    return is_set;
  }
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }
  std::string_view rest() const { return rest_; }
  bool is_failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes a newline in a path as "\012" (seq_path with "\n" to escape) and leaves
// everything else, a backslash included, as it is.
std::string undo_escapes(std::string_view text) {
  std::string path;
  path.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' &&
                           is_octal(text[i + 1]) && is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (!is_escape) {
      path += text[i];
      continue;
    }
    path +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return path;
}

std::optional<MapsEntry> parse_line(std::string_view line) {
  MapsEntry entry;
  LineCursor cursor(line);
  entry.start.value = cursor.number<std::uint64_t>(16);
  cursor.expect('-');
  entry.end.value = cursor.number<std::uint64_t>(16);
  cursor.expect(' ');
  entry.is_readable = cursor.take_flag('r');
  entry.is_writable = cursor.take_flag('w');
  entry.is_executable = cursor.take_flag('x');
  cursor.take_flag('s');
  cursor.expect(' ');
  entry.offset.value = cursor.number<std::uint64_t>(16);
  cursor.expect(' ');
  entry.device_major = cursor.number<unsigned>(16);
  cursor.expect(':');
  entry.device_minor = cursor.number<unsigned>(16);
  cursor.expect(' ');
  entry.inode = cursor.number<unsigned long long>(10);
  if (cursor.is_failed() || entry.start >= entry.end) {
    return std::nullopt;
  }
  cursor.skip_spaces();
  std::string_view path = cursor.rest();
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.size() > kDeleted.size() && path.substr(path.size() - kDeleted.size()) == kDeleted) {
    entry.is_deleted = true;
    path.remove_suffix(kDeleted.size());
  }
  entry.path = undo_escapes(path);
  return entry;
}

}  // namespace

std::vector<MapsEntry> parse_maps(std::string_view text) {
  std::vector<MapsEntry> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto entry = parse_line(text.substr(0, end)); entry.has_value()) {
      entries.push_back(std::move(*entry));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

Result<std::vector<MapsEntry>> read_maps(int pid, const std::string& proc_root) {
  LUMBRE_TRY_ASSIGN(const std::string text,
                    read_proc_file(proc_root + "/" + std::to_string(pid) + "/maps"));
  return parse_maps(text);
}

}  // namespace lumbre
