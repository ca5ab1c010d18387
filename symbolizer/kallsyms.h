// KernelSymbols: names of kernel addresses from /proc/kallsyms text. Immutable: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/base/address.h"
#include "symbolizer/base/result.h"

namespace lumbre {

struct KernelSymbol {
  std::string_view name;
  std::string_view module;  // "" for the kernel itself, else as in the brackets ("bpf", "ext4")
  std::uint64_t address = 0;
};

class KernelSymbols {
 public:
  // Text symbols (t, T, w, W) only. Fails with kPermission if every address is zero
  // (kernel.kptr_restrict hides them).
  static Result<KernelSymbols> parse(std::string text);
  static Result<KernelSymbols> load(const std::string& path = "/proc/kallsyms");
  // None below the first symbol, and none past the end of the kernel text or of the module.
  std::optional<KernelSymbol> find(std::uint64_t address) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint64_t address;
    std::uint32_t name_offset;
    std::uint32_t name_length;
    std::uint32_t module_offset;  // into text_; 0 length for the kernel
    std::uint32_t module_length;
  };
  std::string text_;
  std::vector<Entry> entries_;
  std::uint64_t text_end_ = 0;  // _etext
};

}  // namespace lumbre
