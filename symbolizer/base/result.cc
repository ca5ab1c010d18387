#include "symbolizer/base/result.h"

#include <cstring>

namespace lumbre {

Error Error::system(int saved_errno, std::string what) {
  const ErrorKind kind = (saved_errno == EPERM || saved_errno == EACCES)   ? ErrorKind::kPermission
                         : (saved_errno == ENOENT || saved_errno == ESRCH) ? ErrorKind::kNotFound
                                                                           : ErrorKind::kSystem;
  return {kind, saved_errno, what + ": " + std::strerror(saved_errno)};
}

Error Error::in_context(const std::string& context) const {
  return {kind, system_errno, context + ": " + message};
}

}  // namespace lumbre
