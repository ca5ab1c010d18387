// Output files: written beside their place and renamed when whole, mode 0600, owned by the user
// behind sudo, never through a symbolic link.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "symbolizer/base/result.h"

namespace lumbre {

using WriteFunction = std::function<bool(std::ostream&)>;

// "-" is stdout. An earlier file of that name is replaced only by a whole new one.
Result<void> write_output_file(const std::string& path, const WriteFunction& write);
// A new folder, mode 0700.
Result<void> make_output_folder(const std::string& path);
// Takes back a folder that could not be filled, with the files of a recording in it.
void remove_output_folder(const std::string& path);
bool path_exists(const std::string& path);  // without following a final symbolic link

}  // namespace lumbre
