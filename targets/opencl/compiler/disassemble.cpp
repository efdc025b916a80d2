#include <fmt/format.h>

#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool has(size_t word) const { return word < bytes_.size() / 4; }
  uint32_t word(size_t index) const {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value |= static_cast<uint32_t>(bytes_[4 * index + i]) << 8 * i;
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
};

Diagnostics malformed(const std::string& what) {
  return Diagnostics("OpenCL stream", what, "compile the model again");
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) {
  const Reader in(stream);
  if (!in.has(kHeaderWords - 1) || in.word(kMagicWord) != kMagic) return std::nullopt;
  if (in.word(kVersionWord) != kVersion)
    return malformed(fmt::format("is of version {}, not {}", in.word(kVersionWord), kVersion));
  const size_t regions = in.word(kRegionCountWord), launches = in.word(kLaunchCountWord);
  const size_t source = in.word(kSourceWord), source_bytes = in.word(kSourceBytesWord);
  if (regions > static_cast<size_t>(kMaxRegions) || !in.has(kHeaderWords + regions - 1))
    return malformed("has more regions than bytes");
  if (source_bytes == 0 || source > stream.size() || source_bytes > stream.size() - source)
    return malformed("ends within its source");
  std::string text;
  for (size_t r = 0; r < regions; ++r)
    text += fmt::format("region {}: {} bytes\n", r, in.word(kHeaderWords + r));
  size_t at = kHeaderWords + regions;
  for (size_t i = 0; i < launches; ++i) {
    if (!in.has(at + kLaunchWords - 1)) return malformed(fmt::format("ends within launch {}", i));
    const size_t arguments = in.word(at + kArgumentCountWord);
    if (arguments > stream.size() || !in.has(at + kLaunchWords + 2 * arguments - 1))
      return malformed(fmt::format("ends within launch {}", i));
    text += fmt::format("{:04x}: k{} over {} x {} x {}", 4 * at, in.word(at + kKernelWord),
                        in.word(at + kGlobalXWord), in.word(at + kGlobalYWord),
                        in.word(at + kGlobalZWord));
    at += kLaunchWords;
    for (size_t a = 0; a < arguments; ++a, at += 2)
      text += fmt::format(" {}+{:#x}", in.word(at), in.word(at + 1));
    text += "\n";
  }
  return text + "\n" +
         std::string(reinterpret_cast<const char*>(stream.data()) + source, source_bytes - 1);
}

}  // namespace intarsia::targets::opencl
