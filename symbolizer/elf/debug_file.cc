#include "symbolizer/elf/debug_file.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

#include "symbolizer/base/byte_reader.h"

namespace lumbre {
namespace {

constexpr std::string_view kDebugRoot = "/usr/lib/debug";

struct DebugLink {  // the content of .gnu_debuglink
  std::string name;
  std::uint32_t crc = 0;
};

std::optional<DebugLink> read_debug_link(const ElfFile& file) {
  ByteReader reader(file.section_data(".gnu_debuglink"));
  DebugLink link;
  link.name = reader.c_string();
  reader.skip((4 - reader.offset() % 4) % 4);
  link.crc = reader.u32();
  // A name with folders in it could lead anywhere.
  const bool is_plain = !link.name.empty() && link.name.find('/') == std::string::npos;
  return !reader.is_failed() && is_plain ? std::optional(link) : std::nullopt;
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// The file at `path` if it is another ELF file and does not belong to another build.
std::shared_ptr<ElfFile> open_candidate(const ElfFile& file, const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped.has_value() || mapped->identity() == file.identity()) {
    return nullptr;
  }
  auto parsed = ElfFile::parse(std::move(mapped).value());
  if (!parsed.has_value()) {
    return nullptr;
  }
  auto candidate = std::move(parsed).value();
  const bool is_other_build = !file.build_id().empty() && !candidate->build_id().empty() &&
                              file.build_id() != candidate->build_id();
  return is_other_build ? nullptr : candidate;
}

std::shared_ptr<ElfFile> find_by_build_id(const ElfFile& file, const std::string& root) {
  const std::string& id = file.build_id();
  if (id.size() < 4) {
    return nullptr;
  }
  std::string path = root + std::string(kDebugRoot);
  path += "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  auto candidate = open_candidate(file, path);
  return candidate != nullptr && candidate->build_id() == id ? candidate : nullptr;
}

// The folder of `path` as seen inside `root`.
std::string folder_in_root(const std::string& path, const std::string& root) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  const std::string folder = path.substr(0, slash);
  const bool has_root =
      !root.empty() && (folder + "/").compare(0, root.size() + 1, root + "/") == 0;
  return has_root ? folder.substr(root.size()) : folder;
}

std::shared_ptr<ElfFile> find_by_link(const ElfFile& file, const DebugLink& link,
                                      const std::string& folder, const std::string& root) {
  const std::string debug_root = root + std::string(kDebugRoot);
  for (const std::string& place : {root + folder, root + folder + "/.debug", debug_root + folder}) {
    auto candidate = open_candidate(file, place + "/" + link.name);
    if (candidate != nullptr && crc_of(candidate->bytes()) == link.crc) {
      return candidate;
    }
  }
  return nullptr;
}

}  // namespace

Result<std::shared_ptr<ElfFile>> find_debug_file(const ElfFile& file, const std::string& path,
                                                 const std::vector<std::string>& roots) {
  for (const auto& root : roots) {
    if (auto found = find_by_build_id(file, root); found != nullptr) {
      return found;
    }
  }
  if (const auto link = read_debug_link(file); link.has_value() && !path.empty()) {
    for (const auto& root : roots) {
      if (auto found = find_by_link(file, *link, folder_in_root(path, root), root);
          found != nullptr) {
        return found;
      }
    }
  }
  return Error::not_found("no separate debug file for " + path);
}

}  // namespace lumbre
