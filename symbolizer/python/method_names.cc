#include "symbolizer/python/method_names.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/elf/function_starts.h"
#include "symbolizer/python/method_bodies.h"

namespace lumbre {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::size_t kMaxNameBytes = 64;

// As the loader leaves it: writable data with the relocations that need no other file.
class LoadedImage {
 public:
  struct Part {
    std::uint64_t address;
    std::vector<std::byte> bytes;

    std::uint64_t word(std::size_t offset) const { return ByteReader(bytes, offset).u64(); }
  };

  explicit LoadedImage(const ElfFile& file);

  std::span<const Part> data() const { return data_; }
  bool is_data(std::uint64_t address) const;
  bool is_function_start(std::uint64_t address) const;
  bool is_read_only(std::uint64_t address) const;
  // A zero-terminated name in read-only data, or nothing.
  std::string_view read_only_name(std::uint64_t address, bool allows_dots) const;

 private:
  struct Range {
    std::uint64_t address;
    std::span<const std::byte> bytes;
    std::uint32_t flags;
  };

  void relocate(const ElfFile& file);
  void write_word(std::uint64_t address, std::uint64_t value);
  const Range* find_range(std::uint64_t address) const;

  std::vector<Range> ranges_;
  std::vector<Part> data_;
  FunctionStarts functions_;
};

LoadedImage::LoadedImage(const ElfFile& file) : functions_(file) {
  // Linkers write four to eight; every look-up passes over all of them.
  constexpr std::size_t kMaxSegments = 32;
  std::uint64_t budget_bytes = file.bytes().size();  // segments of a real file do not overlap
  for (const ElfFile::Segment& segment : file.segments()) {
    if (segment.type != PT_LOAD || ranges_.size() == kMaxSegments) {
      continue;
    }
    const auto bytes = file.bytes_at(segment.address, segment.file_size_bytes);
    ranges_.push_back({segment.address.value, bytes, segment.flags});
    if ((segment.flags & PF_W) != 0 && bytes.size() <= budget_bytes) {
      budget_bytes -= bytes.size();
      data_.push_back({segment.address.value, {bytes.begin(), bytes.end()}});
    }
  }
  relocate(file);
}

// DT_RELR needs nothing: its pointers lie in the file's data already, as without relocations.
void LoadedImage::relocate(const ElfFile& file) {
  const bool is_arm = file.machine() == EM_AARCH64;
  const std::uint64_t relative = is_arm ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
  const std::uint64_t absolute = is_arm ? R_AARCH64_ABS64 : R_X86_64_64;
  const auto symbols = file.section_data(".dynsym");
  ByteReader reader(file.section_data(".rela.dyn"));
  while (reader.remaining() >= sizeof(Elf64_Rela)) {
    const auto entry = reader.read<Elf64_Rela>();
    const auto addend = static_cast<std::uint64_t>(entry.r_addend);
    if (ELF64_R_TYPE(entry.r_info) == relative) {
      write_word(entry.r_offset, addend);
    } else if (ELF64_R_TYPE(entry.r_info) == absolute) {
      const auto place = std::uint64_t{ELF64_R_SYM(entry.r_info)} * sizeof(Elf64_Sym);
      const auto symbol = ByteReader(symbols, place).read<Elf64_Sym>();
      if (symbol.st_shndx != SHN_UNDEF) {
        write_word(entry.r_offset, symbol.st_value + addend);
      }
    }
  }
}

void LoadedImage::write_word(std::uint64_t address, std::uint64_t value) {
  for (Part& part : data_) {
    const std::uint64_t offset = address - part.address;
    if (address >= part.address && offset < part.bytes.size() &&
        part.bytes.size() - offset >= kWordBytes) {
      std::memcpy(part.bytes.data() + offset, &value, kWordBytes);
      return;
    }
  }
}

const LoadedImage::Range* LoadedImage::find_range(std::uint64_t address) const {
  const auto found = std::ranges::find_if(ranges_, [&](const Range& range) {
    return address >= range.address && address - range.address < range.bytes.size();
  });
  return found == ranges_.end() ? nullptr : &*found;
}

bool LoadedImage::is_data(std::uint64_t address) const {
  const Range* range = find_range(address);
  return range != nullptr && (range->flags & PF_W) != 0;
}

bool LoadedImage::is_read_only(std::uint64_t address) const {
  // Executable or not: older linkers put constants beside the code.
  const Range* range = find_range(address);
  return range != nullptr && (range->flags & PF_W) == 0;
}

bool LoadedImage::is_function_start(std::uint64_t address) const {
  const Range* range = find_range(address);
  if (address == 0 || range == nullptr || (range->flags & PF_X) == 0) {
    return false;
  }
  const auto start = functions_.next_after(ImageAddress{address - 1});
  return start.has_value() && start->value == address;
}

bool is_identifier_byte(char byte, bool is_first) {
  const bool is_letter =
      (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
  return is_letter || (!is_first && byte >= '0' && byte <= '9');
}

bool is_identifier(std::string_view text, bool allows_dots) {
  bool is_first = true;
  for (const char byte : text) {
    const bool is_dot = allows_dots && !is_first && byte == '.';
    if (!is_dot && !is_identifier_byte(byte, is_first)) {
      return false;
    }
    is_first = is_dot;
  }
  return !is_first;  // neither empty nor ending in a dot
}

std::string_view LoadedImage::read_only_name(std::uint64_t address, bool allows_dots) const {
  const Range* range = find_range(address);
  if (range == nullptr || (range->flags & PF_W) != 0) {
    return {};
  }
  const auto rest = range->bytes.subspan(address - range->address);
  ByteReader reader(rest.first(std::min(rest.size(), kMaxNameBytes + 1)));
  const std::string_view name = reader.c_string();
  return is_identifier(name, allows_dots) ? name : std::string_view();
}

// Whether CPython accepts these METH_ flags (PyCFunction_New and PyDescr_NewMethod refuse others).
bool is_calling_convention(std::uint64_t flags) {
  constexpr std::uint64_t kVarargs = 0x01, kKeywords = 0x02, kNoArgs = 0x04, kOneArg = 0x08;
  constexpr std::uint64_t kClass = 0x10, kStatic = 0x20, kCoexist = 0x40;
  constexpr std::uint64_t kFastcall = 0x80, kMethod = 0x200;
  switch (flags & ~(kClass | kStatic | kCoexist)) {
    case kVarargs:
    case kVarargs | kKeywords:
    case kFastcall:
    case kFastcall | kKeywords:
    case kMethod | kFastcall | kKeywords:
    case kNoArgs:
    case kOneArg:
      return true;
    default:
      return false;
  }
}

struct Definition {  // one PyMethodDef
  std::uint64_t place;
  std::uint64_t function;
  std::string_view name;
  std::string_view class_name = {};
};

constexpr std::size_t kDefinitionBytes = 32;  // ml_name, ml_meth, ml_flags with padding, ml_doc

// By place, because parts are read in their order.
std::vector<Definition> find_definitions(const LoadedImage& image) {
  std::vector<Definition> found;
  for (const LoadedImage::Part& part : image.data()) {
    std::size_t at = (kWordBytes - part.address % kWordBytes) % kWordBytes;
    for (; at + kDefinitionBytes <= part.bytes.size(); at += kWordBytes) {
      const std::uint64_t doc = part.word(at + 24);
      // The cheap and rare first: few words are flags.
      if (!is_calling_convention(part.word(at + 16)) || (doc != 0 && !image.is_read_only(doc)) ||
          !image.is_function_start(part.word(at + 8))) {
        continue;
      }
      const std::string_view name = image.read_only_name(part.word(at), false);
      if (!name.empty()) {
        found.push_back({part.address + at, part.word(at + 8), name});
      }
    }
  }
  return found;
}

// Places in PyTypeObject of CPython 3.8-3.14, with PyVarObject of 24 bytes before it.
constexpr std::size_t kTypeReferences = 0;
constexpr std::size_t kTypeOfType = 8;
constexpr std::size_t kTypeLength = 16;
constexpr std::size_t kTypeName = 24;
constexpr std::size_t kTypeBasicSize = 32;
constexpr std::size_t kTypeItemSize = 40;
constexpr std::size_t kTypeDealloc = 48;
constexpr std::size_t kTypeFlags = 168;
constexpr std::size_t kTypeDoc = 176;
constexpr std::size_t kTypeMethods = 232;
constexpr std::size_t kTypeMembers = 240;
constexpr std::size_t kTypeGetSet = 248;
constexpr std::size_t kTypeBytes = 256;  // as much of it as is read

// One, or the count of objects that are never freed (3.12+: the upper half may hold flags); never
// the address that a word of another struct is likely to be.
bool is_static_reference_count(std::uint64_t word) {
  constexpr std::uint32_t kSmallestImmortal = 0x3fffffff;
  const auto count = static_cast<std::uint32_t>(word);
  return word == 1 || count >= kSmallestImmortal;
}

// "list" or "deque" (of "collections.deque") if a PyTypeObject begins here.
std::string_view class_at(const LoadedImage& image, const LoadedImage::Part& part, std::size_t at) {
  constexpr std::uint64_t kMaxObjectBytes = 1 << 20;
  constexpr std::uint64_t kMaxFlags = std::uint64_t{1} << 32;
  const auto is_data_or_null = [&](std::size_t field) {
    const std::uint64_t value = part.word(at + field);
    return value == 0 || image.is_data(value);
  };
  const std::uint64_t dealloc = part.word(at + kTypeDealloc);
  const std::uint64_t doc = part.word(at + kTypeDoc);
  if (!is_static_reference_count(part.word(at + kTypeReferences)) ||
      !is_data_or_null(kTypeOfType) || part.word(at + kTypeLength) != 0 ||
      part.word(at + kTypeBasicSize) > kMaxObjectBytes ||
      part.word(at + kTypeItemSize) > kMaxObjectBytes || part.word(at + kTypeFlags) >= kMaxFlags ||
      (dealloc != 0 && !image.is_function_start(dealloc)) ||
      (doc != 0 && !image.is_read_only(doc)) || !is_data_or_null(kTypeMembers) ||
      !is_data_or_null(kTypeGetSet)) {
    return {};
  }
  const std::string_view name = image.read_only_name(part.word(at + kTypeName), true);
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0
}

// All entries of an array lie next to each other; an empty one ends it.
void set_class_of_array(std::vector<Definition>& definitions, std::uint64_t array,
                        std::string_view class_name) {
  auto at = std::ranges::lower_bound(definitions, array, {}, &Definition::place);
  for (std::uint64_t place = array;
       at != definitions.end() && at->place == place && at->class_name.empty(); ++at) {
    at->class_name = class_name;
    place += kDefinitionBytes;
  }
}

void find_classes(const LoadedImage& image, std::vector<Definition>& definitions) {
  for (const LoadedImage::Part& part : image.data()) {
    std::size_t at = (kWordBytes - part.address % kWordBytes) % kWordBytes;
    for (; at + kTypeBytes <= part.bytes.size(); at += kWordBytes) {
      const std::uint64_t array = part.word(at + kTypeMethods);
      if (!std::ranges::binary_search(definitions, array, {}, &Definition::place)) {
        continue;
      }
      if (const auto class_name = class_at(image, part, at); !class_name.empty()) {
        set_class_of_array(definitions, array, class_name);
      }
    }
  }
}

// The one name that is true however the function was called; several where Python knows several.
std::string joined_name(std::span<const Definition> same_function) {
  constexpr std::size_t kMaxNames = 3;
  std::vector<std::string_view> names;
  bool is_one_class = true;
  for (const Definition& definition : same_function) {
    is_one_class = is_one_class && definition.class_name == same_function.front().class_name;
    if (std::ranges::find(names, definition.name) == names.end()) {
      names.push_back(definition.name);
    }
    if (names.size() > kMaxNames) {
      return {};  // a stub that identical functions were folded into
    }
  }
  std::string joined;
  if (is_one_class && !same_function.front().class_name.empty()) {
    joined = std::string(same_function.front().class_name) + ".";
  }
  for (const std::string_view name : names) {
    joined += (name == names.front() ? "" : "/") + std::string(name);
  }
  return joined;
}

}  // namespace

std::vector<MethodName> find_method_names(const ElfFile& file) {
  const LoadedImage image(file);
  std::vector<Definition> definitions = find_definitions(image);
  std::ranges::sort(definitions, {}, &Definition::place);
  find_classes(image, definitions);
  std::ranges::stable_sort(definitions, {}, &Definition::function);
  std::vector<MethodName> names;
  for (auto begin = definitions.begin(); begin != definitions.end();) {
    const auto end = std::find_if(begin, definitions.end(), [&](const Definition& definition) {
      return definition.function != begin->function;
    });
    if (std::string name = joined_name({begin, end}); !name.empty()) {
      names.push_back({ImageAddress{begin->function}, std::move(name)});
    }
    begin = end;
  }
  const std::vector<MethodName> bodies = find_method_bodies(file, names);
  names.insert(names.end(), bodies.begin(), bodies.end());
  std::ranges::sort(names, {}, &MethodName::function);
  return names;
}

const MethodName* find_method(std::span<const MethodName> sorted, ImageAddress function) {
  const auto found = std::ranges::lower_bound(sorted, function, {}, &MethodName::function);
  return found == sorted.end() || found->function != function ? nullptr : &*found;
}

}  // namespace lumbre
