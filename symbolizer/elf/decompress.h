// Decompression of whole buffers, as sections of ELF files carry them: zlib (ELFCOMPRESS_ZLIB,
// ".zdebug_"), zstd (ELFCOMPRESS_ZSTD) and xz (".gnu_debugdata").
//
// The output grows with what really comes out and never by what the file claims; a claimed size
// is only ever a limit. Each gives nothing when the input is broken or larger than allowed.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lumbre {

using ByteVector = std::vector<std::byte>;

// Exactly `size_bytes` must come out.
std::optional<ByteVector> decompress_zlib(std::span<const std::byte> input,
                                          std::uint64_t size_bytes);
std::optional<ByteVector> decompress_zstd(std::span<const std::byte> input,
                                          std::uint64_t size_bytes);
// At most `limit_bytes` may come out.
std::optional<ByteVector> decompress_xz(std::span<const std::byte> input,
                                        std::uint64_t limit_bytes);

}  // namespace lumbre
