#include <fmt/format.h>

#include "intarsia/gpu/launches.h"
#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

Diagnostics malformed(const std::string& what) {
  return Diagnostics("OpenCL stream", what, "compile the model again");
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) {
  const gpu::WordReader in(stream);
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
  size_t broken = 0;
  const std::optional<std::string> lines =
      gpu::launches_text(in, kHeaderWords + regions, launches, broken);
  if (!lines) return malformed(fmt::format("ends within launch {}", broken));
  return text + *lines + "\n" +
         std::string(reinterpret_cast<const char*>(stream.data()) + source, source_bytes - 1);
}

}  // namespace intarsia::targets::opencl
