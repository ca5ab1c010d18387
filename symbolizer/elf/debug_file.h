// Where the separate debug file of a stripped binary may live, and whether it is the right one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "symbolizer/elf/elf_file.h"

namespace lumbre {

// Searches by build id, then .gnu_debuglink (CRC checked):
// `root`/usr/lib/debug/.build-id/xx/y.debug, beside the binary, in its .debug folder, and
// `root`/usr/lib/debug/<folder>. `root` is the target's root folder ("" for our own), `path` the
// binary's path, with or without that root in front. A file with another build id or CRC is
// refused. kNotFound when there is none. Reads the whole debug file once when it is found by its
// link.
Result<std::shared_ptr<ElfFile>> find_debug_file(const ElfFile& file, const std::string& path,
                                                 const std::vector<std::string>& roots);

}  // namespace lumbre
