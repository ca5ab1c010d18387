#include "userspace/unwind/python_codes.h"

#include <algorithm>

namespace lumbre {
namespace {

std::string text_of(const __u8* data, std::uint32_t size, std::uint32_t kind) {
  const auto bytes =
      std::as_bytes(std::span(data, std::min<std::size_t>(size, LUMBRE_CODE_TEXT_BYTES)));
  return decode_unicode(bytes, kind == 0 ? 1 : kind);
}

PythonCode decode(const lumbre_python_code& seen) {
  PythonCode code;
  code.name = text_of(seen.name, seen.name_bytes, seen.name_kind);
  code.filename = text_of(seen.filename, seen.filename_bytes, seen.filename_kind);
  code.first_line = seen.first_line;
  code.version = seen.version;
  const auto size = std::min<std::size_t>(seen.line_table_bytes, LUMBRE_CODE_LINE_TABLE_BYTES);
  code.line_table.assign(reinterpret_cast<const char*>(seen.line_table), size);
  code.is_line_table_whole = seen.line_table_bytes == seen.line_table_total_bytes;
  return code;
}

bool is_whole(const lumbre_python_code& seen) {
  return seen.name_bytes == seen.name_total_bytes && seen.name_bytes != 0 &&
         seen.filename_bytes == seen.filename_total_bytes &&
         seen.line_table_bytes == seen.line_table_total_bytes;
}

}  // namespace

PythonCodes::PythonCodes() {
  PythonCode unreadable;
  unreadable.name = "[python function not readable]";
  codes_.push_back(unreadable);
}

void PythonCodes::inherit_layout(std::uint32_t parent, std::uint32_t child) {
  if (const auto found = layouts_.find(parent); found != layouts_.end()) {
    layouts_.insert_or_assign(child, lumbre_python_layout(found->second));
  }
}

const lumbre_python_layout* PythonCodes::layout(std::uint32_t pid) const {
  const auto found = layouts_.find(pid);
  return found == layouts_.end() ? nullptr : &found->second;
}

PythonCodeIndex PythonCodes::keep(PythonCode code) {
  const Content content{code.name, code.filename, code.first_line, code.line_table};
  const auto [at, is_new] =
      by_content_.try_emplace(content, static_cast<PythonCodeIndex>(codes_.size()));
  if (is_new) {
    codes_.push_back(std::move(code));
  }
  return at->second;
}

bool PythonCodes::read_live(std::uint32_t pid, std::uint64_t address, PythonCode& code) const {
  const lumbre_python_layout* known = layout(pid);
  if (known == nullptr) {
    return false;
  }
  Result<PythonCode> read =
      read_code_object(LiveProcessMemory(static_cast<int>(pid)), {address}, *known);
  if (!read.has_value()) {
    return false;
  }
  code = std::move(read).value();
  return true;
}

void PythonCodes::add(const lumbre_python_code& seen) {
  PythonCode code = decode(seen);
  PythonCode whole;
  // What did not fit is read again, if the object is still the same one.
  if (!is_whole(seen) && read_live(seen.pid, seen.code, whole) &&
      whole.first_line == code.first_line && whole.name.starts_with(code.name)) {
    code = std::move(whole);
  }
  if (code.name.empty()) {
    code.name = codes_[0].name;
  }
  by_address_[{seen.address_space, seen.code, seen.check}] = keep(std::move(code));
}

PythonCodes::Place PythonCodes::find(std::uint64_t address_space, std::uint32_t pid,
                                     const lumbre_python_frame& frame) {
  const Key key{address_space, frame.code, frame.check};
  auto found = by_address_.find(key);
  if (found == by_address_.end()) {
    PythonCode code;
    const bool is_read = read_live(pid, frame.code, code);
    unreadable_ += is_read ? 0 : 1;
    found = by_address_.emplace(key, is_read ? keep(std::move(code)) : 0).first;
  }
  const lumbre_python_layout* known = layout(pid);
  if (found->second == 0 || known == nullptr) {
    return {found->second, 0};
  }
  const std::int64_t offset = instruction_offset(*known, frame.code, frame.instruction);
  const std::uint64_t line_key =
      std::uint64_t{found->second} << 32 | static_cast<std::uint32_t>(offset);
  const auto [line, is_new] = lines_.try_emplace(line_key, 0);
  if (is_new) {
    line->second = find_line(codes_[found->second], offset).line;
  }
  return {found->second, line->second};
}

}  // namespace lumbre
