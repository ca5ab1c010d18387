// Whole files of /proc, which have no size to ask for: read until the end. Any thread.
#pragma once

#include <string>

#include "symbolizer/base/result.h"

namespace lumbre {

Result<std::string> read_proc_file(const std::string& path);

}  // namespace lumbre
