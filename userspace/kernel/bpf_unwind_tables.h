// BpfUnwindTables: the unwind tables in the maps of the kernel programs, its arrays mapped into
// this process. One thread.
#pragma once

#include <cstddef>

#include "symbolizer/base/result.h"
#include "userspace/unwind/unwind_table_store.h"

namespace lumbre {

struct UnwindMapFds {  // borrowed
  int rules = -1, rows = -1, ranges = -1, pages = -1, processes = -1;
};

class BpfUnwindTables : public UnwindTableStore {
 public:
  static Result<BpfUnwindTables> map(const UnwindMapFds& fds);
  BpfUnwindTables(BpfUnwindTables&&) noexcept = default;
  BpfUnwindTables& operator=(BpfUnwindTables&&) noexcept = default;
  ~BpfUnwindTables() override = default;

  std::span<lumbre_unwind_rule> rules() override;
  std::span<lumbre_unwind_row> rows() override;
  std::span<lumbre_code_range> ranges() override;
  bool set_page(const lumbre_page_key& key, const lumbre_page& page) override;
  void clear_page(const lumbre_page_key& key) override;
  bool set_process(std::uint32_t visible_pid, const lumbre_native_process& process) override;
  void clear_process(std::uint32_t visible_pid) override;

 private:
  // A BPF_F_MMAPABLE array.
  class MappedArray {
   public:
    MappedArray() = default;
    MappedArray(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
    MappedArray(MappedArray&& other) noexcept;
    MappedArray& operator=(MappedArray&& other) noexcept;
    ~MappedArray();
    template <typename T>
    std::span<T> as() const {
      return {static_cast<T*>(data_), bytes_ / sizeof(T)};
    }

   private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
  };

  explicit BpfUnwindTables(const UnwindMapFds& fds) : fds_(fds) {}
  static Result<MappedArray> map_array(int fd, std::size_t bytes, const char* what);

  UnwindMapFds fds_;
  MappedArray rules_, rows_, ranges_;
};

}  // namespace lumbre
