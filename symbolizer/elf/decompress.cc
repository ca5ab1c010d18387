#include "symbolizer/elf/decompress.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

namespace lumbre {
namespace {

// Far above any debug section seen (PyTorch's .debug_info is below 2 GiB); the bound of a bomb.
constexpr std::uint64_t kMaxOutputBytes = std::uint64_t{4} << 30;
constexpr std::size_t kFirstChunkBytes = std::size_t{1} << 20;

// Output space that doubles as it fills, up to a limit.
class GrowingBuffer {
 public:
  explicit GrowingBuffer(std::uint64_t limit_bytes)
      : limit_(static_cast<std::size_t>(std::min(limit_bytes, kMaxOutputBytes))) {}

  // Space behind what was written; empty at the limit.
  std::span<std::byte> free_space() {
    if (used_ == bytes_.size() && used_ < limit_) {
      bytes_.resize(std::min(limit_, std::max(kFirstChunkBytes, used_ * 2)));
    }
    return std::span(bytes_).subspan(used_);
  }
  void add_used(std::size_t count) { used_ += count; }
  std::size_t used() const { return used_; }
  ByteVector take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  ByteVector bytes_;
};

std::optional<ByteVector> take_if_exact(GrowingBuffer& out, std::uint64_t size_bytes) {
  if (out.used() != size_bytes) {
    return std::nullopt;
  }
  return out.take();
}

}  // namespace

std::optional<ByteVector> decompress_zlib(std::span<const std::byte> input,
                                          std::uint64_t size_bytes) {
  z_stream stream = {};
  if (::inflateInit(&stream) != Z_OK) {
    return std::nullopt;
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, ::inflateEnd);
  constexpr std::size_t kMaxStep = std::size_t{1} << 30;  // avail_in and avail_out are 32 bits
  GrowingBuffer out(size_bytes);
  int status = Z_OK;
  while (status == Z_OK) {
    const auto space = out.free_space();
    const auto in_step = static_cast<uInt>(std::min(input.size(), kMaxStep));
    const auto out_step = static_cast<uInt>(std::min(space.size(), kMaxStep));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(input.data()));
    stream.avail_in = in_step;
    stream.next_out = reinterpret_cast<Bytef*>(space.data());
    stream.avail_out = out_step;
    status = ::inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR when neither side can move on
    input = input.subspan(in_step - stream.avail_in);
    out.add_used(out_step - stream.avail_out);
  }
  return status == Z_STREAM_END ? take_if_exact(out, size_bytes) : std::nullopt;
}

std::optional<ByteVector> decompress_zstd(std::span<const std::byte> input,
                                          std::uint64_t size_bytes) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(::ZSTD_createDStream(),
                                                                             ::ZSTD_freeDStream);
  if (stream == nullptr) {
    return std::nullopt;
  }
  GrowingBuffer out(size_bytes);
  ZSTD_inBuffer in = {input.data(), input.size(), 0};
  std::size_t status = 1;
  while (status != 0) {
    const auto space = out.free_space();
    ZSTD_outBuffer step = {space.data(), space.size(), 0};
    const std::size_t in_before = in.pos;
    status = ::ZSTD_decompressStream(stream.get(), &step, &in);
    out.add_used(step.pos);
    if (::ZSTD_isError(status) != 0 || (step.pos == 0 && in.pos == in_before)) {
      return std::nullopt;
    }
  }
  return take_if_exact(out, size_bytes);
}

std::optional<ByteVector> decompress_xz(std::span<const std::byte> input,
                                        std::uint64_t limit_bytes) {
  lzma_stream stream = LZMA_STREAM_INIT;
  constexpr std::uint64_t kMaxDecoderBytes = std::uint64_t{256} << 20;  // the dictionary's bound
  if (::lzma_stream_decoder(&stream, kMaxDecoderBytes, 0) != LZMA_OK) {
    return std::nullopt;
  }
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> owner(&stream, ::lzma_end);
  GrowingBuffer out(limit_bytes);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
  stream.avail_in = input.size();
  lzma_ret status = LZMA_OK;
  while (status == LZMA_OK) {
    const auto space = out.free_space();
    stream.next_out = reinterpret_cast<std::uint8_t*>(space.data());
    stream.avail_out = space.size();
    status = ::lzma_code(&stream, LZMA_FINISH);  // LZMA_BUF_ERROR when it cannot move on
    out.add_used(space.size() - stream.avail_out);
  }
  if (status != LZMA_STREAM_END) {
    return std::nullopt;
  }
  return out.take();
}

}  // namespace lumbre
