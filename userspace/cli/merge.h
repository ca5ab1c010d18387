// Several profiles read and added up.
#pragma once

#include <string>
#include <vector>

#include "output/profile.h"
#include "symbolizer/base/result.h"

namespace lumbre {

// All must have the same sample types.
Result<output::Profile> read_merged(const std::vector<std::string>& inputs,
                                    const std::string& event);

}  // namespace lumbre
