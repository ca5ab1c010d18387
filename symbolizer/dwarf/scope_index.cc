#include "symbolizer/dwarf/scope_index.h"

#include <algorithm>

#include "symbolizer/dwarf/constants.h"

namespace lumbre::dwarf {
namespace {

constexpr std::size_t kDepthLimit = 4096;

bool is_scope(std::uint16_t entry_tag) {
  switch (entry_tag) {
    case tag::kNamespace:
    case tag::kClassType:
    case tag::kStructureType:
    case tag::kUnionType:
    case tag::kEnumerationType:
    case tag::kInterfaceType:
    case tag::kModule:
      return true;
    default:
      return false;
  }
}

}  // namespace

ScopeIndex::ScopeIndex(const OpenUnit& unit) {
  ByteReader reader = unit.reader_at(unit.unit().root());
  std::vector<std::uint32_t> around;  // per open list of children its scope, or that around it
  std::uint32_t current = kNone;
  while (!reader.is_at_end() && around.size() < kDepthLimit) {
    const auto entry = static_cast<std::uint32_t>(reader.offset() - unit.unit().offset);
    const std::uint64_t code = reader.uleb128();
    const Abbreviation* abbreviation = code == 0 ? nullptr : unit.abbreviations->find(code);
    if (abbreviation == nullptr) {
      if (code != 0 || around.empty()) {
        break;
      }
      const std::uint32_t outer = around.back();
      around.pop_back();
      if (current != outer) {
        scopes_[current].end = entry;
      }
      current = outer;
      continue;
    }
    unit.abbreviations->skip(reader, *abbreviation);
    if (abbreviation->has_children) {
      around.push_back(current);
      if (is_scope(abbreviation->tag)) {
        scopes_.push_back(
            {entry, static_cast<std::uint32_t>(unit.unit().end - unit.unit().offset), current});
        current = static_cast<std::uint32_t>(scopes_.size() - 1);
      }
    }
  }
  scopes_.shrink_to_fit();
}

std::uint32_t ScopeIndex::find(std::uint32_t entry) const {
  const auto after =
      std::lower_bound(scopes_.begin(), scopes_.end(), entry,
                       [](const Scope& scope, std::uint32_t key) { return scope.entry < key; });
  auto index = static_cast<std::uint32_t>(after - scopes_.begin()) - 1;  // kNone before the first
  while (index != kNone && scopes_[index].end <= entry) {
    index = scopes_[index].outer;
  }
  return index == kNone ? kNone : scopes_[index].entry;
}

}  // namespace lumbre::dwarf
