#include "symbolizer/dwarf/line_header.h"

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

struct EntryFormat {
  std::uint64_t content = 0;
  std::uint16_t form = 0;
};

std::vector<EntryFormat> read_entry_formats(ByteReader& reader) {
  std::vector<EntryFormat> formats(reader.u8());
  for (EntryFormat& format : formats) {
    format.content = reader.uleb128();
    const std::uint64_t form = reader.uleb128();
    format.form = static_cast<std::uint16_t>(form > 0xffff ? 0xffff : form);
  }
  return formats;
}

// Directories and files of DWARF 5 have the same shape: formats, a count, entries.
std::vector<LineFile> read_entries(ByteReader& reader, const UnitContext& unit,
                                   const UnitFormat& format) {
  const std::vector<EntryFormat> formats = read_entry_formats(reader);
  std::vector<LineFile> entries;
  for (std::uint64_t left = reader.uleb128(); left > 0 && !reader.is_failed(); --left) {
    LineFile entry;
    const std::size_t start = reader.offset();
    for (const EntryFormat& part : formats) {
      const FormValue value = read_form(reader, part.form, format, 0);
      if (part.content == line_content::kPath) {
        entry.name = unit.string(value);
      } else if (part.content == line_content::kDirectoryIndex) {
        entry.directory = value.number;
      }
    }
    if (reader.offset() == start) {  // entries of no bytes could be counted for ever
      break;
    }
    entries.push_back(entry);
  }
  return entries;
}

void read_old_tables(ByteReader& reader, LineHeader& header) {
  for (auto name = reader.c_string(); !name.empty(); name = reader.c_string()) {
    header.directories.push_back(name);
  }
  for (auto name = reader.c_string(); !name.empty(); name = reader.c_string()) {
    header.files.push_back(read_old_file(reader, name));
  }
}

void read_new_tables(ByteReader& reader, const UnitContext& unit, LineHeader& header) {
  for (const LineFile& directory : read_entries(reader, unit, header.format)) {
    header.directories.push_back(directory.name);
  }
  header.files = read_entries(reader, unit, header.format);
}

void read_machine_parameters(ByteReader& reader, LineHeader& header) {
  header.min_instruction_length = reader.u8();
  header.max_operations = header.format.version >= 4 ? reader.u8() : std::uint8_t{1};
  reader.u8();  // default_is_stmt
  header.line_base = static_cast<std::int8_t>(reader.u8());
  header.line_range = reader.u8();
  header.opcode_base = reader.u8();
  header.opcode_lengths = reader.take(header.opcode_base == 0 ? 0 : header.opcode_base - 1u);
}

}  // namespace

LineFile read_old_file(ByteReader& reader, std::string_view name) {
  const LineFile file{name, reader.uleb128()};
  reader.uleb128();  // modification time
  reader.uleb128();  // length
  return file;
}

std::optional<LineHeader> LineHeader::parse(const UnitContext& unit, std::uint64_t offset) {
  LineHeader header;
  ByteReader outer(unit.sections().line, offset);
  const std::uint64_t length = read_unit_length(outer, header.format.offset_size);
  if (outer.is_failed() || length > outer.remaining()) {
    return std::nullopt;
  }
  ByteReader reader(outer.bytes().first(outer.offset() + length), outer.offset());
  header.format.version = reader.u16();
  if (header.format.version < 2 || header.format.version > 5) {
    return std::nullopt;
  }
  if (header.format.version == 5) {
    header.format.address_size = reader.u8();
    reader.u8();  // segment_selector_size
  }
  const std::uint64_t header_length = read_unsigned(reader, header.format.offset_size);
  if (header_length > reader.remaining()) {
    return std::nullopt;
  }
  const std::uint64_t program_start = reader.offset() + header_length;
  ByteReader tables(reader.bytes().first(program_start), reader.offset());
  read_machine_parameters(tables, header);
  if (tables.is_failed() || header.line_range == 0 || header.opcode_base == 0) {
    return std::nullopt;
  }
  header.format.version == 5 ? read_new_tables(tables, unit, header)
                             : read_old_tables(tables, header);
  header.program = reader.bytes().subspan(program_start);
  header.size_bytes = length;
  return header;
}

std::string LineHeader::path(std::uint64_t file, std::string_view comp_dir) const {
  const bool counts_from_0 = format.version >= 5;
  const std::uint64_t file_index = counts_from_0 ? file : file - 1;
  if (file_index >= files.size()) {
    return {};
  }
  const LineFile& entry = files[file_index];
  const std::uint64_t directory_index = counts_from_0 ? entry.directory : entry.directory - 1;
  if (directory_index >= directories.size() || entry.name.starts_with('/')) {
    return join_path(comp_dir, entry.name);
  }
  const std::string_view directory = directories[directory_index];
  if (directory.starts_with('/')) {
    return join_path(directory, entry.name);
  }
  return join_path(join_path(comp_dir, directory), entry.name);
}

std::string join_path(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.starts_with('/')) {
    return std::string(name);
  }
  std::string path;
  path.reserve(directory.size() + 1 + name.size());
  path.append(directory);
  if (!path.ends_with('/') && !name.empty()) {
    path.push_back('/');
  }
  return path.append(name);
}

}  // namespace lumbre::dwarf
