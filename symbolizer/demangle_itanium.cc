#include "symbolizer/demangle_itanium.h"

#include "symbolizer/demangle_itanium_parser.h"
#include "symbolizer/demangle_itanium_printer.h"

namespace lumbre {
namespace {

constexpr std::size_t kMaxDisplaySize = 120;

bool is_utf8_tail(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::optional<std::string> demangle_itanium(std::string_view mangled) {
  const auto tree = itanium::Parser(mangled).run();
  return tree.has_value() ? itanium::Printer(*tree, itanium::Style::kWhole).run() : std::nullopt;
}

std::optional<std::string> display_itanium(std::string_view mangled) {
  const auto tree = itanium::Parser(mangled).run();
  if (!tree.has_value()) {
    return std::nullopt;
  }
  auto name = itanium::Printer(*tree, itanium::Style::kShort).run();
  if (!name.has_value() || name->size() > kMaxDisplaySize) {
    auto shortest = itanium::Printer(*tree, itanium::Style::kShortest).run();
    name = shortest.has_value() ? std::move(shortest) : std::move(name);
  }
  return name;
}

std::string cap_display_name(std::string name) {
  if (name.size() <= kMaxDisplaySize) {
    return name;
  }
  constexpr std::string_view kGap = "...";
  std::size_t head = (kMaxDisplaySize - kGap.size()) / 2;
  std::size_t tail = name.size() - (kMaxDisplaySize - kGap.size() - head);
  while (head > 0 && is_utf8_tail(name[head])) {
    --head;
  }
  while (tail < name.size() && is_utf8_tail(name[tail])) {
    ++tail;
  }
  return name.replace(head, tail - head, kGap);
}

}  // namespace lumbre
