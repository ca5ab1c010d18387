#include "userspace/kernel/bpf_unwind_tables.h"

#include <bpf/bpf.h>
#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <utility>

namespace lumbre {

BpfUnwindTables::MappedArray::MappedArray(MappedArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

BpfUnwindTables::MappedArray& BpfUnwindTables::MappedArray::operator=(
    MappedArray&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

BpfUnwindTables::MappedArray::~MappedArray() {
  if (data_ != nullptr) {
    ::munmap(data_, bytes_);
  }
}

Result<BpfUnwindTables::MappedArray> BpfUnwindTables::map_array(int fd, std::size_t bytes,
                                                                const char* what) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    return Error::system(errno, std::string("cannot map the kernel's table of ") + what);
  }
  return MappedArray(data, bytes);
}

Result<BpfUnwindTables> BpfUnwindTables::map(const UnwindMapFds& fds) {
  BpfUnwindTables tables(fds);
  LUMBRE_TRY_ASSIGN(
      tables.rules_,
      map_array(fds.rules, LUMBRE_MAX_RULES * sizeof(lumbre_unwind_rule), "unwind rules"));
  LUMBRE_TRY_ASSIGN(tables.rows_, map_array(fds.rows, LUMBRE_MAX_ROWS * sizeof(lumbre_unwind_row),
                                            "unwind rows"));
  LUMBRE_TRY_ASSIGN(
      tables.ranges_,
      map_array(fds.ranges, LUMBRE_MAX_CODE_RANGES * sizeof(lumbre_code_range), "code ranges"));
  return tables;
}

std::span<lumbre_unwind_rule> BpfUnwindTables::rules() { return rules_.as<lumbre_unwind_rule>(); }
std::span<lumbre_unwind_row> BpfUnwindTables::rows() { return rows_.as<lumbre_unwind_row>(); }
std::span<lumbre_code_range> BpfUnwindTables::ranges() { return ranges_.as<lumbre_code_range>(); }

bool BpfUnwindTables::set_page(const lumbre_page_key& key, const lumbre_page& page) {
  return ::bpf_map_update_elem(fds_.pages, &key, &page, BPF_ANY) == 0;
}

void BpfUnwindTables::clear_page(const lumbre_page_key& key) {
  ::bpf_map_delete_elem(fds_.pages, &key);
}

bool BpfUnwindTables::set_process(std::uint32_t visible_pid, const lumbre_native_process& process) {
  return ::bpf_map_update_elem(fds_.processes, &visible_pid, &process, BPF_ANY) == 0;
}

void BpfUnwindTables::clear_process(std::uint32_t visible_pid) {
  ::bpf_map_delete_elem(fds_.processes, &visible_pid);
}

}  // namespace lumbre
