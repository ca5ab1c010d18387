#include "symbolizer/python/method_bodies.h"

#include <elf.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <unordered_map>

#include "symbolizer/elf/function_starts.h"

namespace lumbre {
namespace {

using Bytes = std::span<const std::byte>;

std::uint8_t byte_at(Bytes bytes, std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); }

std::uint32_t word_at(Bytes bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

std::uint64_t sign_extended(std::uint32_t word) {
  return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(word)});
}

bool is_short_jump(std::uint8_t opcode) { return opcode == 0xeb || (opcode & 0xf0) == 0x70; }

std::uint64_t short_target(std::uint64_t address, std::uint8_t distance) {
  return address + 2 + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(distance)});
}

struct Body {
  const MethodName* method;
  std::uint64_t method_end;
  std::uint64_t end;  // where the next function begins
  bool is_entered_otherwise = false;
};

class Bodies {
 public:
  Bodies(const ElfFile& file, const std::vector<MethodName>& methods) : functions_(file) {
    for (const MethodName& method : methods) {
      add_targets_of(file, method);
    }
    for (const MethodName& method : methods) {
      bodies_.erase(method.function.value);
    }
    for (const auto& [address, body] : bodies_) {
      maybe_.set(hash(address));
    }
  }

  void check_references(std::uint64_t address, Bytes bytes) {
    for (std::size_t at = 0; at + 4 <= bytes.size(); ++at) {
      const std::uint32_t word = word_at(bytes, at);
      check(word, 0);  // its address as a number: it may be called through it
      const std::uint64_t place = address + at;
      const bool is_call = at != 0 && byte_at(bytes, at - 1) == 0xe8;
      check(place + 4 + sign_extended(word), is_call ? 0 : place);
      if (is_short_jump(byte_at(bytes, at))) {
        check(short_target(place, byte_at(bytes, at + 1)), place);
      }
    }
  }

  std::vector<MethodName> proven() const {
    std::vector<MethodName> names;
    for (const auto& [address, body] : bodies_) {
      if (!body.is_entered_otherwise) {
        names.push_back({ImageAddress{address}, body.method->name});
      }
    }
    std::ranges::sort(names, {}, &MethodName::function);
    return names;
  }

 private:
  static std::size_t hash(std::uint64_t address) { return (address ^ (address >> 16)) & 0xffff; }

  std::uint64_t end_of(std::uint64_t function) const {
    return functions_.next_after({function}).value_or(ImageAddress{~std::uint64_t{0}}).value;
  }

  void add_targets_of(const ElfFile& file, const MethodName& method) {
    const std::uint64_t start = method.function.value;
    const std::uint64_t end = end_of(start);
    Bytes code = file.bytes_from(method.function);
    code = code.first(static_cast<std::size_t>(std::min<std::uint64_t>(code.size(), end - start)));
    for (std::size_t at = 0; at + 5 <= code.size(); ++at) {
      const std::uint8_t opcode = byte_at(code, at);
      const bool is_conditional =
          at != 0 && byte_at(code, at - 1) == 0x0f && (opcode & 0xf0) == 0x80;
      if (opcode == 0xe9 || is_conditional) {
        add(method, end, start + at + 5 + sign_extended(word_at(code, at + 1)));
      } else if (is_short_jump(opcode)) {
        add(method, end, short_target(start + at, byte_at(code, at + 1)));
      }
    }
  }

  void add(const MethodName& method, std::uint64_t method_end, std::uint64_t target) {
    const bool is_inside = target >= method.function.value && target < method_end;
    if (is_inside || target == 0) {
      return;
    }
    const auto start = functions_.next_after({target - 1});
    if (start.has_value() && start->value == target) {
      bodies_.try_emplace(target, Body{&method, method_end, end_of(target)});
    }
  }

  void check(std::uint64_t target, std::uint64_t place) {
    if (!maybe_.test(hash(target))) {
      return;
    }
    const auto found = bodies_.find(target);
    if (found == bodies_.end()) {
      return;
    }
    Body& body = found->second;
    const bool is_own = (place >= body.method->function.value && place < body.method_end) ||
                        (place >= target && place < body.end);
    body.is_entered_otherwise = body.is_entered_otherwise || !is_own;
  }

  FunctionStarts functions_;
  std::unordered_map<std::uint64_t, Body> bodies_;
  std::bitset<65536> maybe_;  // most places refer to none: this says so at once
};

}  // namespace

std::vector<MethodName> find_method_bodies(const ElfFile& file,
                                           const std::vector<MethodName>& methods) {
  if (file.machine() != EM_X86_64 || methods.empty()) {
    return {};
  }
  Bodies bodies(file, methods);
  std::uint64_t budget_bytes = file.bytes().size();  // segments of a real file do not overlap
  for (const ElfFile::Segment& segment : file.segments()) {
    const Bytes bytes = file.bytes_at(segment.address, segment.file_size_bytes);
    if (segment.type != PT_LOAD || bytes.empty()) {
      continue;
    }
    if (bytes.size() > budget_bytes) {
      return {};  // what is not searched could refer to any
    }
    budget_bytes -= bytes.size();
    bodies.check_references(segment.address.value, bytes);
  }
  return bodies.proven();
}

}  // namespace lumbre
