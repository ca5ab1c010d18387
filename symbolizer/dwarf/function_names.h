// FunctionNames: the name of a function entry, by way of the entries it is an instance of.
//
// Follows DW_AT_abstract_origin and DW_AT_specification, across units too, for a bounded number of
// steps (a hostile file may lead in circles). Nothing is kept but the scopes of units whose names
// had to be qualified. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "symbolizer/dwarf/debug_info.h"
#include "symbolizer/dwarf/scope_index.h"

namespace lumbre::dwarf {

struct FunctionName {
  std::string text;  // "" when the file does not say
  bool is_linkage_name = false;
  std::uint32_t declaration_line = 0;
};

class FunctionNames {
 public:
  explicit FunctionNames(DebugInfo& info) : info_(info) {}

  // Of the entry at an offset of .debug_info.
  FunctionName find(std::uint64_t entry);

 private:
  struct Entry;
  bool read_entry(std::uint64_t offset, Entry& entry);
  // The name with its namespaces and classes before it; `depth` bounds the recursion.
  std::string qualified_name(const Entry& entry, int depth);
  const ScopeIndex& scopes_of(const OpenUnit& unit);

  DebugInfo& info_;
  std::unordered_map<std::uint64_t, std::unique_ptr<ScopeIndex>> scopes_;  // by unit offset
};

}  // namespace lumbre::dwarf
