// _Py_DebugOffsets: CPython's own statement of where its fields are, the first member of
// _PyRuntime from 3.13 on (cpython/Include/internal/pycore_debug_offsets.h; pycore_runtime.h in
// 3.13). After the cookie it is a row of 64-bit words whose order changes with each minor version.
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "symbolizer/base/byte_reader.h"
#include "symbolizer/python/layouts.h"

namespace lumbre {
namespace {

constexpr std::size_t kMaxWords = 128;

// Which word says what, counted from the cookie. `*_size` words are the sizes of the structs.
struct WordNumbers {
  unsigned minor;
  std::size_t word_count;
  std::size_t runtime_size, runtime_interpreters_head;
  std::size_t interpreter_size, interpreter_next, interpreter_threads_head;
  std::size_t thread_size, thread_next, thread_current_frame, thread_id;
  std::size_t frame_size, frame_previous, frame_executable, frame_instruction, frame_owner;
  std::size_t code_size, code_filename, code_qualname, code_line_table, code_first_line,
      code_bytecode;
  std::size_t object_size, object_type;
  std::size_t bytes_object_size, bytes_size, bytes_data;
  std::size_t unicode_size, unicode_state, unicode_length, unicode_ascii_size;
  std::uint64_t tag_bits;  // of f_executable
};

constexpr std::array kKnownMinors = {
    WordNumbers{.minor = 13,
                .word_count = 73,
                .runtime_size = 3,
                .runtime_interpreters_head = 5,
                .interpreter_size = 6,
                .interpreter_next = 8,
                .interpreter_threads_head = 9,
                .thread_size = 19,
                .thread_next = 21,
                .thread_current_frame = 23,
                .thread_id = 24,
                .frame_size = 28,
                .frame_previous = 29,
                .frame_executable = 30,
                .frame_instruction = 31,
                .frame_owner = 33,
                .code_size = 34,
                .code_filename = 35,
                .code_qualname = 37,
                .code_line_table = 38,
                .code_first_line = 39,
                .code_bytecode = 43,
                .object_size = 44,
                .object_type = 45,
                .bytes_object_size = 64,
                .bytes_size = 65,
                .bytes_data = 66,
                .unicode_size = 67,
                .unicode_state = 68,
                .unicode_length = 69,
                .unicode_ascii_size = 70,
                .tag_bits = 0},
    WordNumbers{.minor = 14,
                .word_count = 95,
                .runtime_size = 3,
                .runtime_interpreters_head = 5,
                .interpreter_size = 6,
                .interpreter_next = 8,
                .interpreter_threads_head = 9,
                .thread_size = 22,
                .thread_next = 24,
                .thread_current_frame = 26,
                .thread_id = 27,
                .frame_size = 31,
                .frame_previous = 32,
                .frame_executable = 33,
                .frame_instruction = 34,
                .frame_owner = 36,
                .code_size = 39,
                .code_filename = 40,
                .code_qualname = 42,
                .code_line_table = 43,
                .code_first_line = 44,
                .code_bytecode = 48,
                .object_size = 50,
                .object_type = 51,
                .bytes_object_size = 74,
                .bytes_size = 75,
                .bytes_data = 76,
                .unicode_size = 77,
                .unicode_state = 78,
                .unicode_length = 79,
                .unicode_ascii_size = 80,
                .tag_bits = 3},  // Py_TAG_REFCNT and Py_INT_TAG
};

// Takes offsets out of the words and remembers whether each fits its struct: a layout read with
// the wrong word numbers fails here instead of walking into the wild.
class OffsetWords {
 public:
  explicit OffsetWords(std::span<const std::uint64_t> words) : words_(words) {}

  // An offset of `width` bytes inside the struct whose size is in word `size_word`.
  template <typename T>
  void take(T& into, std::size_t word, std::size_t size_word, std::uint64_t width = 8) {
    const std::uint64_t offset = words_[word];
    const std::uint64_t size = words_[size_word];
    if (offset > size || size - offset < width || offset > std::numeric_limits<T>::max()) {
      is_consistent_ = false;
      return;
    }
    into = static_cast<T>(offset);
  }
  bool is_consistent() const { return is_consistent_; }

 private:
  std::span<const std::uint64_t> words_;
  bool is_consistent_ = true;
};

void take_state_offsets(OffsetWords& words, const WordNumbers& at, lumbre_python_layout& layout) {
  words.take(layout.runtime_interpreters_head, at.runtime_interpreters_head, at.runtime_size);
  words.take(layout.interpreter_next, at.interpreter_next, at.interpreter_size);
  words.take(layout.interpreter_threads_head, at.interpreter_threads_head, at.interpreter_size);
  words.take(layout.thread_next, at.thread_next, at.thread_size);
  words.take(layout.thread_id, at.thread_id, at.thread_size);
  words.take(layout.thread_frame, at.thread_current_frame, at.thread_size);
  words.take(layout.frame_code, at.frame_executable, at.frame_size);
  words.take(layout.frame_back, at.frame_previous, at.frame_size);
  words.take(layout.frame_instruction, at.frame_instruction, at.frame_size);
  words.take(layout.frame_owner, at.frame_owner, at.frame_size, 1);
}

void take_object_offsets(OffsetWords& words, const WordNumbers& at, lumbre_python_layout& layout) {
  words.take(layout.code_first_line, at.code_first_line, at.code_size, 4);
  words.take(layout.code_filename, at.code_filename, at.code_size);
  words.take(layout.code_name, at.code_qualname, at.code_size);
  words.take(layout.code_line_table, at.code_line_table, at.code_size);
  words.take(layout.code_bytecode, at.code_bytecode, at.code_size, 1);
  words.take(layout.object_type, at.object_type, at.object_size);
  words.take(layout.bytes_size, at.bytes_size, at.bytes_object_size);
  words.take(layout.bytes_data, at.bytes_data, at.bytes_object_size, 1);
  words.take(layout.unicode_state, at.unicode_state, at.unicode_size, 4);
  words.take(layout.unicode_length, at.unicode_length, at.unicode_size);
  layout.unicode_kind_shift = kUnicodeKindShift;
  layout.unicode_ascii_shift = kUnicodeAsciiShift;
  // PyASCIIObject's size, then utf8_length and utf8 of PyCompactUnicodeObject.
  words.take(layout.unicode_ascii_data, at.unicode_ascii_size, at.unicode_size, 0);
  layout.unicode_compact_data = static_cast<std::uint16_t>(layout.unicode_ascii_data + 16);
}

// The kernel programs read one block of fixed size per frame and per code object (abi/tables.h).
bool is_within_kernel_reads(const lumbre_python_layout& layout) {
  constexpr unsigned kFrameBytes = 112;
  constexpr unsigned kCodeBytes = 144;
  if (layout.frame_bytes > kFrameBytes) {
    return false;
  }
  for (const unsigned offset : {layout.object_type, layout.code_first_line, layout.code_filename,
                                layout.code_name, layout.code_line_table}) {
    if (offset + 8 > kCodeBytes) {
      return false;
    }
  }
  return true;
}

PythonVersion version_of_hex(std::uint64_t hex, bool is_free_threaded) {
  return {static_cast<unsigned>(hex >> 24 & 0xff), static_cast<unsigned>(hex >> 16 & 0xff),
          static_cast<unsigned>(hex >> 8 & 0xff), is_free_threaded};
}

// The words of a version that is known, and its numbers; the reason otherwise.
Result<const WordNumbers*> find_word_numbers(const PythonVersion& version, std::uint64_t hex) {
  const std::string name = "CPython " + version.text();
  if (version.is_free_threaded) {
    return Error::unsupported(name + " is a free-threaded build, which is not supported yet");
  }
  const std::uint64_t release_level = hex >> 4 & 0xf;  // 0xa alpha, 0xb beta, 0xc candidate, 0xf
  if (release_level < 0xc) {
    return Error::unsupported(name + " is a pre-release, whose layout is not fixed");
  }
  for (const WordNumbers& numbers : kKnownMinors) {
    if (version.major == 3 && version.minor == numbers.minor) {
      return &numbers;
    }
  }
  return Error::unsupported(name +
                            " is not supported yet: Python frames are known for 3.8 to 3.14");
}

}  // namespace

Result<PythonVersion> version_from_debug_offsets(std::span<const std::byte> debug_offsets) {
  ByteReader reader(debug_offsets);
  const auto cookie = reader.take(8);
  const std::uint64_t hex = reader.u64();
  const std::uint64_t free_threaded = reader.u64();
  if (reader.is_failed() || std::memcmp(cookie.data(), "xdebugpy", 8) != 0) {
    return Error::malformed("_PyRuntime does not begin with CPython's debug offsets");
  }
  return version_of_hex(hex, free_threaded != 0);
}

Result<lumbre_python_layout> layout_from_debug_offsets(std::span<const std::byte> debug_offsets) {
  LUMBRE_TRY_ASSIGN(const PythonVersion version, version_from_debug_offsets(debug_offsets));
  std::array<std::uint64_t, kMaxWords> words{};
  std::size_t count = 0;
  for (ByteReader reader(debug_offsets); count < kMaxWords && reader.remaining() >= 8; ++count) {
    words[count] = reader.u64();
  }
  LUMBRE_TRY_ASSIGN(const WordNumbers* numbers, find_word_numbers(version, words[1]));
  if (count < numbers->word_count) {
    return Error::malformed("the debug offsets of CPython " + version.text() + " are cut short");
  }
  lumbre_python_layout layout{};
  layout.version = 0x0300 | version.minor;
  layout.flags = LUMBRE_PYTHON_SHIM_FRAMES;
  layout.owner_shim_minimum = 3;  // 3.13: FRAME_OWNED_BY_CSTACK; 3.14: that is 4, INTERPRETER is 3
  layout.executable_mask = ~numbers->tag_bits;
  OffsetWords offsets(words);
  take_state_offsets(offsets, *numbers, layout);
  take_object_offsets(offsets, *numbers, layout);
  layout.frame_bytes = bytes_to_read_of_frame(layout);
  if (!offsets.is_consistent() || !is_within_kernel_reads(layout)) {
    return Error::malformed("the debug offsets of CPython " + version.text() +
                            " contradict themselves");
  }
  return layout;
}

}  // namespace lumbre
