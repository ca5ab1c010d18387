#include "symbolizer/demangle_cost.h"

#include "symbolizer/demangle_cost_parser.h"

namespace lumbre {

std::uint64_t demangled_length(std::string_view mangled) { return CostParser(mangled).run(); }

bool is_safe_to_demangle(std::string_view mangled) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;
  const auto length = demangled_length(mangled);
  return length != 0 && length <= kLimit;
}

}  // namespace lumbre
