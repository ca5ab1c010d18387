// FunctionEntries: what .debug_info says about a function or an inlined instance of one.
//
// Names are found by following DW_AT_abstract_origin and DW_AT_specification, across units too, for
// a bounded number of steps (a hostile file may lead in circles). Kept are a small cache of the
// names found last and the scopes of units whose names had to be qualified. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/dwarf/debug_info.h"
#include "symbolizer/dwarf/scope_index.h"

namespace lumbre::dwarf {

struct FunctionName {
  std::string text;  // "" when the file does not say
  bool is_linkage_name = false;
  std::uint32_t declaration_line = 0;
};

struct FunctionEntry {
  FunctionName name;
  bool is_inlined = false;  // an instance; the rest says where it was inlined into its parent
  std::uint32_t call_file = 0xffffffff, call_line = 0, call_column = 0;
};

class FunctionEntries {
 public:
  explicit FunctionEntries(DebugInfo& info) : info_(info) {}

  // Of the entry at an offset of .debug_info.
  FunctionEntry find(std::uint64_t offset);

 private:
  struct Entry;
  struct KnownName {
    std::uint64_t offset = 0;  // of the entry whose name it is; 0: none
    FunctionName name;
  };
  bool read_entry(std::uint64_t offset, Entry& entry);
  const FunctionName& find_known_name(std::uint64_t offset, const Entry& from);
  // Follows the chain that begins at an entry.
  FunctionName find_name(Entry entry);
  // The name with its namespaces and classes before it; `depth` bounds the recursion.
  std::string qualified_name(const Entry& entry, int depth);
  const ScopeIndex& scopes_of(const OpenUnit& unit);

  DebugInfo& info_;
  std::vector<KnownName> known_names_;  // by a hash of the offset; empty before the first
  std::unordered_map<std::uint64_t, std::unique_ptr<ScopeIndex>> scopes_;  // by unit offset
};

}  // namespace lumbre::dwarf
