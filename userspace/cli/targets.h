// The processes that a command is asked to look at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lumbre {

// The process ids of `-p`, as thread group ids (a thread's id leads to its process). An exit status,
// said on stderr, where one is none or there is no such process.
std::optional<int> resolve_pids(const std::vector<std::string>& texts,
                                std::vector<std::uint32_t>& pids);

}  // namespace lumbre
