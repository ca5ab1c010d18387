#include "symbolizer/python/gil.h"

namespace lumbre {
namespace {

// interval, last_holder, locked, switch_number; then cond, mutex, switch_cond, switch_mutex, of 48
// and 40 bytes on glibc and musl.
constexpr std::uint64_t kGilBytes = 208;

std::optional<GilPlace> in_main_interpreter(const ProcessMemory& memory,
                                            const lumbre_python_process& process,
                                            std::uint64_t offset) {
  // struct pyinterpreters: mutex, head, main.
  const std::uint64_t main_pointer =
      process.runtime_address + process.layout.runtime_interpreters_head + 8;
  const auto interpreter = memory.read_value<std::uint64_t>({main_pointer});
  if (!interpreter.has_value() || *interpreter == 0 || offset == 0 || offset > 1 << 20) {
    return std::nullopt;
  }
  return GilPlace{*interpreter + offset, kGilBytes};
}

// A word of _Py_DebugOffsets: the offset of PyInterpreterState._gil.
std::uint64_t debug_word(const ProcessMemory& memory, const lumbre_python_process& process,
                         std::uint64_t number) {
  return memory.read_value<std::uint64_t>({process.runtime_address + 8 * number}).value_or(0);
}

}  // namespace

std::optional<GilPlace> find_gil(const ProcessMemory& memory,
                                 const lumbre_python_process& process) {
  switch (process.layout.version) {
    case 0x0308:
      return GilPlace{process.runtime_address + 1152, kGilBytes};
    case 0x0309:
    case 0x030a:
      return GilPlace{process.runtime_address + 352, kGilBytes};
    case 0x030b:
      return GilPlace{process.runtime_address + 360, kGilBytes};
    case 0x030c:
      return in_main_interpreter(memory, process, 1040);
    case 0x030d:
      return in_main_interpreter(memory, process, debug_word(memory, process, 15));
    case 0x030e:
      return in_main_interpreter(memory, process, debug_word(memory, process, 16));
    default:
      return std::nullopt;
  }
}

}  // namespace lumbre
