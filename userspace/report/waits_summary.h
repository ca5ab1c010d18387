// What the summary says about waiting: exact times of each thread and reason.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "userspace/collectors/offcpu.h"

namespace lumbre {

// {"threads": [{pid, tid, process, thread, elapsed_s, run_s, switches, wait_s{REASON: s}}],
//  "open_at_begin", "open_at_end"}
nlohmann::ordered_json waits_json(const OffCpuCollector& offcpu);
// "  12.3 s futex, 4.0 s net, ..." of all threads together; "" where nothing waited.
std::string waits_text(const OffCpuCollector& offcpu);

}  // namespace lumbre
