// libFuzzer target: any bytes as an ELF file whose call frame information is read and applied.
// Seeds: small shared libraries.
#include <algorithm>
#include <string>

#include "symbolizer/dwarf/cfi_step.h"

namespace {

class AnyMemory : public lumbre::StackReader {
 public:
  bool read_word(std::uint64_t address, std::uint64_t& value) override {
    value = address * 0x9e3779b97f4a7c15;
    return (address & 0x100) == 0;
  }
};

void step_both_ways(const lumbre::CfiRow& row) {
  lumbre_registers registers{};
  registers.valid = (1u << LUMBRE_REGISTER_COUNT) - 1;
  lumbre_registers copy = registers;
  AnyMemory memory;
  (void)lumbre::step_by_row(row, registers, memory, 0x1000);
  (void)lumbre::step_by_rule(lumbre::compact_rule(row), copy, memory);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  auto file = lumbre::ElfFile::parse(lumbre::MappedFile::from_bytes(std::move(bytes)));
  if (!file.has_value()) {
    return 0;
  }
  const lumbre::CfiTable table(*file);
  const std::uint64_t step = std::max<std::uint64_t>(1, size / 64);
  for (std::uint64_t address = 0; address < size; address += step) {
    if (const auto row = table.find_row({address}); row.has_value()) {
      step_both_ways(*row);
    }
    (void)table.rows_of_function({address});
  }
  return 0;
}
