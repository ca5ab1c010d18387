#include "userspace/kernel/bpf_programs.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "bpf/abi/config.h"
#include "lumbre_bpf.skel.h"
#include "lumbre_bpf_classic.skel.h"

namespace lumbre {
namespace {

using UsualConstants = std::remove_pointer_t<decltype(lumbre_bpf::rodata)>;
using ClassicConstants = std::remove_pointer_t<decltype(lumbre_bpf_classic::rodata)>;
static_assert(offsetof(UsualConstants, config) == offsetof(ClassicConstants, config),
              "the settings are written through the usual set's skeleton");

}  // namespace

lumbre_bpf* open_programs(ProgramSet set) {
  auto* programs = static_cast<lumbre_bpf*>(std::calloc(1, sizeof(lumbre_bpf)));
  if (programs == nullptr) {
    return nullptr;
  }
  int failure = lumbre_bpf__create_skeleton(programs);
  if (failure == 0) {
    bpf_object_skeleton* skeleton = programs->skeleton;
    if (set == ProgramSet::kClassic) {
      skeleton->data = const_cast<void*>(lumbre_bpf_classic__elf_bytes(&skeleton->data_sz));
    }
    failure = bpf_object__open_skeleton(skeleton, nullptr);
  }
  if (failure != 0) {
    lumbre_bpf__destroy(programs);
    errno = -failure;
    return nullptr;
  }
  return programs;
}

bool is_classic_forced() {
  const char* wanted = std::getenv("LUMBRE_KERNEL_PROGRAMS");
  return wanted != nullptr && std::string_view(wanted) == "classic";
}

}  // namespace lumbre
