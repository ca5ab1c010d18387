#include "symbolizer/dwarf/function_names.h"

#include <string_view>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

constexpr int kMaxHops = 16;
constexpr int kMaxScopes = 32;
constexpr std::size_t kMaxNameBytes = 1 << 16;

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

struct FunctionNames::Entry {
  const OpenUnit* unit = nullptr;
  std::uint64_t offset = 0;
  std::uint16_t tag = 0;
  std::string_view name, linkage_name;
  std::uint32_t declaration_line = 0;
  std::optional<std::uint64_t> origin;  // the entry that this one completes
};

bool FunctionNames::read_entry(std::uint64_t offset, Entry& entry) {
  // Most references stay inside their unit.
  if (entry.unit == nullptr || offset < entry.unit->unit().root() ||
      offset >= entry.unit->unit().end) {
    const auto index = info_.unit_index_at(offset);
    entry.unit = index.has_value() ? info_.open(*index) : nullptr;
  }
  const OpenUnit* unit = entry.unit;
  entry = Entry{unit, offset, 0, {}, {}, 0, std::nullopt};
  if (unit == nullptr || offset < unit->unit().root()) {
    return false;
  }
  ByteReader reader = unit->reader_at(offset);
  const Abbreviation* abbreviation = unit->next_abbreviation(reader);
  if (abbreviation == nullptr) {
    return false;
  }
  entry.tag = abbreviation->tag;
  const UnitContext& context = unit->context;
  unit->visit_attributes(reader, *abbreviation, [&](std::uint16_t name, const FormValue& value) {
    switch (name) {
      case at::kName:
        entry.name = context.string(value);
        break;
      case at::kLinkageName:
      case at::kMipsLinkageName:
        entry.linkage_name = context.string(value);
        break;
      case at::kDeclLine:
        entry.declaration_line = static_cast<std::uint32_t>(value.number);
        break;
      case at::kAbstractOrigin:
      case at::kSpecification:
        entry.origin = context.reference(value);
        break;
      default:
        break;
    }
  });
  return true;
}

FunctionName FunctionNames::find(std::uint64_t offset) {
  FunctionName name;
  Entry entry;
  Entry named;  // the last entry of the chain that has a plain name
  std::optional<std::uint64_t> next = offset;
  for (int hop = 0; hop < kMaxHops && next.has_value() && read_entry(*next, entry); ++hop) {
    if (name.declaration_line == 0) {
      name.declaration_line = entry.declaration_line;
    }
    if (!entry.linkage_name.empty()) {
      name.text = entry.linkage_name;
      name.is_linkage_name = true;
      return name;
    }
    if (!entry.name.empty()) {
      named = entry;
    }
    next = entry.origin;
  }
  if (named.unit != nullptr) {
    name.text = is_flat(named.unit->context.root().language) ? std::string(named.name)
                                                             : qualified_name(named, kMaxScopes);
  }
  return name;
}

std::string FunctionNames::qualified_name(const Entry& entry, int depth) {
  Entry declaration = entry;  // a class that was declared inside another is defined outside
  for (int hop = 0; hop < kMaxHops && declaration.name.empty() && declaration.origin; ++hop) {
    if (!read_entry(*declaration.origin, declaration)) {
      break;
    }
  }
  std::string name(declaration.name.empty() ? name_of_unnamed(entry.tag) : declaration.name);
  if (declaration.unit == nullptr || depth == 0) {
    return name;
  }
  const std::uint64_t unit_offset = declaration.unit->unit().offset;
  const std::uint32_t scope =
      scopes_of(*declaration.unit)
          .find(static_cast<std::uint32_t>(declaration.offset - unit_offset));
  Entry around;
  if (scope == ScopeIndex::kNone || name.size() > kMaxNameBytes ||
      !read_entry(unit_offset + scope, around)) {
    return name;
  }
  return qualified_name(around, depth - 1) + "::" + name;
}

const ScopeIndex& FunctionNames::scopes_of(const OpenUnit& unit) {
  auto& scopes = scopes_[unit.unit().offset];
  if (scopes == nullptr) {
    scopes = std::make_unique<ScopeIndex>(unit);
  }
  return *scopes;
}

}  // namespace lumbre::dwarf
