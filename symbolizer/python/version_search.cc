#include "symbolizer/python/version_search.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/symbol_index.h"

namespace lumbre {
namespace {

// PY_VERSION_HEX without the release level.
PythonVersion version_of_hex(std::uint64_t hex) {
  return {static_cast<unsigned>(hex >> 24 & 0xff), static_cast<unsigned>(hex >> 16 & 0xff),
          static_cast<unsigned>(hex >> 8 & 0xff), false};
}

// A number of one or two digits at the front of `text`, which then begins after it.
std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const std::size_t limit = std::min<std::size_t>(text.size(), 2);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + limit, number);
  if (failure != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take_dot(std::string_view& text) {
  if (!text.starts_with('.')) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// PY_VERSION ("3.8.18", "3.9.0rc1", "3.10.2+") in full.
std::optional<PythonVersion> parse_version_string(std::string_view text) {
  const auto major = take_number(text);
  if (!major || (*major != 2 && *major != 3) || !take_dot(text)) {
    return std::nullopt;
  }
  const auto minor = take_number(text);
  if (!minor || !take_dot(text)) {
    return std::nullopt;
  }
  const auto micro = take_number(text);
  const bool ends_well = text.empty() || std::string_view("+abr").find(text[0]) != text.npos;
  if (!micro || !ends_well) {
    return std::nullopt;
  }
  return PythonVersion{*major, *minor, *micro, false};
}

std::optional<PythonVersion> version_of_word(const ElfFile& file) {
  const auto symbol = find_symbol_by_name(file, "Py_Version");
  if (!symbol) {
    return std::nullopt;
  }
  const std::uint32_t hex = ByteReader(file.bytes_at(symbol->address, 4)).u32();
  return hex == 0 ? std::nullopt : std::optional(version_of_hex(hex));
}

std::optional<PythonVersion> version_at(const ElfFile& file, std::uint64_t address) {
  constexpr std::uint64_t kLongestVersionBytes = 16;
  ByteReader reader(file.bytes_at(ImageAddress{address}, kLongestVersionBytes));
  const std::string_view text = reader.c_string();
  return text.empty() ? std::nullopt : parse_version_string(text);
}

// Py_GetVersion formats PY_VERSION, so its code holds the string's address: relative to the end of
// a 4-byte field (position-independent code) or absolute. Every 4 bytes are tried, and only an
// address where a whole version string stands counts; so no instruction needs decoding. The
// string cannot be searched for directly: linkers keep it as the tail of a longer one.
std::optional<PythonVersion> version_of_function(const ElfFile& file) {
  constexpr std::uint64_t kMostCodeBytes = 512;
  const auto symbol = find_symbol_by_name(file, "Py_GetVersion");
  if (!symbol) {
    return std::nullopt;
  }
  const auto code = file.bytes_at(symbol->address, std::min(symbol->size_bytes, kMostCodeBytes));
  for (std::size_t at = 0; at + 4 <= code.size(); ++at) {
    const auto field = ByteReader(code, at).read<std::int32_t>();
    const std::uint64_t relative =
        symbol->address.value + at + 4 + static_cast<std::uint64_t>(field);
    const auto absolute = static_cast<std::uint32_t>(field);
    for (const std::uint64_t address : {relative, std::uint64_t{absolute}}) {
      if (const auto version = version_at(file, address)) {
        return version;
      }
    }
  }
  return std::nullopt;
}

std::optional<PythonVersion> version_of_library_path(const ElfFile& file) {
  constexpr std::string_view kPath = "lib/python3.";
  for (const ElfFile::Segment& segment : file.segments()) {
    if (segment.type != PT_LOAD || (segment.flags & PF_W) != 0) {
      continue;
    }
    const auto bytes = file.bytes_at(segment.address, segment.file_size_bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (std::size_t at = text.find(kPath); at != text.npos; at = text.find(kPath, at + 1)) {
      std::string_view rest = text.substr(at + kPath.size());
      if (const auto minor = take_number(rest)) {
        return PythonVersion{3, *minor, 0, false};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<PythonVersion> find_python_version(const ElfFile& file, ImageAddress runtime) {
  constexpr std::uint64_t kVersionBytes = 24;  // cookie, version, free_threaded
  if (const auto version = version_from_debug_offsets(file.bytes_at(runtime, kVersionBytes));
      version.has_value()) {
    return *version;
  }
  for (const auto way : {version_of_word, version_of_function, version_of_library_path}) {
    if (const auto version = way(file)) {
      return version;
    }
  }
  return std::nullopt;
}

}  // namespace lumbre
