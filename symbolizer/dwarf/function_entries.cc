#include "symbolizer/dwarf/function_entries.h"

#include <string_view>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

constexpr int kMaxHops = 16;
constexpr int kMaxScopes = 32;
constexpr std::size_t kMaxNameBytes = 1 << 16;
// Few functions are inlined in very many places, so that a small cache spares most of the chains.
constexpr unsigned kKnownNameBits = 12;

std::size_t known_name_slot(std::uint64_t offset) {
  return static_cast<std::size_t>(offset * 0x9e3779b97f4a7c15 >> (64 - kKnownNameBits));
}

// Languages without scopes, where a name is already whole.
bool is_flat(std::uint16_t unit_language) {
  switch (unit_language) {
    case language::kC89:
    case language::kC:
    case language::kC99:
    case language::kC11:
    case language::kC17:
    case language::kMipsAssembler:
      return true;
    default:
      return false;
  }
}

std::string_view name_of_unnamed(std::uint16_t entry_tag) {
  return entry_tag == tag::kNamespace ? "(anonymous namespace)" : "(anonymous class)";
}

}  // namespace

struct FunctionEntries::Entry {
  const OpenUnit* unit = nullptr;
  std::uint64_t offset = 0;
  std::uint16_t tag = 0;
  FormValue name, linkage_name;
  std::uint32_t declaration_line = 0;
  std::optional<std::uint64_t> origin;  // the entry that this one completes
  std::uint32_t call_file = 0xffffffff, call_line = 0, call_column = 0;

  std::string_view text(const FormValue& value) const { return unit->context.string(value); }
  void take(std::uint16_t attribute, const FormValue& value);
};

void FunctionEntries::Entry::take(std::uint16_t attribute, const FormValue& value) {
  const auto number = static_cast<std::uint32_t>(value.number);
  switch (attribute) {
    case at::kName:
      name = value;
      break;
    case at::kLinkageName:
    case at::kMipsLinkageName:
      linkage_name = value;
      break;
    case at::kDeclLine:
      declaration_line = number;
      break;
    case at::kAbstractOrigin:
    case at::kSpecification:
      origin = unit->context.reference(value);
      break;
    case at::kCallFile:
      call_file = number;
      break;
    case at::kCallLine:
      call_line = number;
      break;
    case at::kCallColumn:
      call_column = number;
      break;
    default:
      break;
  }
}

bool FunctionEntries::read_entry(std::uint64_t offset, Entry& entry) {
  const OpenUnit* unit = entry.unit;
  // Most references stay inside their unit.
  if (unit == nullptr || offset < unit->unit().root() || offset >= unit->unit().end) {
    const auto index = info_.unit_index_at(offset);
    unit = index.has_value() ? info_.open(*index) : nullptr;
  }
  entry = Entry{};
  if (unit == nullptr || offset < unit->unit().root()) {
    return false;
  }
  ByteReader reader = unit->reader_at(offset);
  const Abbreviation* abbreviation = unit->next_abbreviation(reader);
  if (abbreviation == nullptr) {
    return false;
  }
  entry.unit = unit;
  entry.offset = offset;
  entry.tag = abbreviation->tag;
  unit->visit_attributes(reader, *abbreviation, [&](std::uint16_t name, const FormValue& value) {
    entry.take(name, value);
  });
  return true;
}

FunctionEntry FunctionEntries::find(std::uint64_t offset) {
  FunctionEntry result;
  Entry entry;
  if (!read_entry(offset, entry)) {
    return result;
  }
  result.is_inlined = entry.tag == tag::kInlinedSubroutine;
  result.call_file = entry.call_file;
  result.call_line = entry.call_line;
  result.call_column = entry.call_column;
  const bool is_instance = entry.origin.has_value() && !entry.linkage_name.is_present();
  result.name = is_instance ? find_known_name(*entry.origin, entry) : find_name(entry);
  if (entry.declaration_line != 0) {
    result.name.declaration_line = entry.declaration_line;
  }
  if (result.name.text.empty() && entry.name.is_present()) {
    result.name.text = entry.text(entry.name);
  }
  return result;
}

const FunctionName& FunctionEntries::find_known_name(std::uint64_t offset, const Entry& from) {
  known_names_.resize(std::size_t{1} << kKnownNameBits);
  KnownName& known = known_names_[known_name_slot(offset)];
  if (known.offset != offset) {
    Entry entry;
    entry.unit = from.unit;
    known.offset = offset;
    known.name = read_entry(offset, entry) ? find_name(entry) : FunctionName{};
  }
  return known.name;
}

FunctionName FunctionEntries::find_name(Entry entry) {
  FunctionName name;
  Entry named;  // the last entry of the chain that has a plain name
  for (int hop = 0; hop < kMaxHops; ++hop) {
    if (name.declaration_line == 0) {
      name.declaration_line = entry.declaration_line;
    }
    if (entry.linkage_name.is_present()) {
      name.text = entry.text(entry.linkage_name);
      name.is_linkage_name = !name.text.empty();
      if (name.is_linkage_name) {
        return name;
      }
    }
    if (entry.name.is_present()) {
      named = entry;
    }
    if (!entry.origin.has_value() || !read_entry(*entry.origin, entry)) {
      break;
    }
  }
  if (named.unit != nullptr) {
    const bool is_whole = is_flat(named.unit->context.root().language);
    name.text = is_whole ? std::string(named.text(named.name)) : qualified_name(named, kMaxScopes);
  }
  return name;
}

std::string FunctionEntries::qualified_name(const Entry& entry, int depth) {
  Entry declaration = entry;  // a class that was declared inside another is defined outside
  for (int hop = 0; hop < kMaxHops && !declaration.name.is_present() && declaration.origin; ++hop) {
    if (!read_entry(*declaration.origin, declaration)) {
      return std::string(name_of_unnamed(entry.tag));
    }
  }
  std::string name(declaration.name.is_present() ? declaration.text(declaration.name)
                                                 : name_of_unnamed(entry.tag));
  if (depth == 0 || name.size() > kMaxNameBytes) {
    return name;
  }
  const OpenUnit& unit = *declaration.unit;
  const std::uint32_t scope =
      scopes_of(unit).find(static_cast<std::uint32_t>(declaration.offset - unit.unit().offset));
  Entry around;
  around.unit = &unit;
  if (scope == ScopeIndex::kNone || !read_entry(unit.unit().offset + scope, around)) {
    return name;
  }
  return qualified_name(around, depth - 1) + "::" + name;
}

const ScopeIndex& FunctionEntries::scopes_of(const OpenUnit& unit) {
  auto& scopes = scopes_[unit.unit().offset];
  if (scopes == nullptr) {
    scopes = std::make_unique<ScopeIndex>(unit);
  }
  return *scopes;
}

}  // namespace lumbre::dwarf
