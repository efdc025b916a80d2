#include <fmt/format.h>

#include "cuda_kind.h"

namespace intarsia::targets::cuda {
namespace {

Diagnostics malformed(const std::string& what) {
  return Diagnostics("CUDA stream", what, "compile the model again");
}

std::string copies_text(const gpu::WordReader& in, size_t at, size_t count, const char* what) {
  std::string text;
  for (size_t i = 0; i < count; ++i, at += kCopyWords)
    text +=
        fmt::format("{:04x}: {} {} bytes at {}+{:#x}\n", 4 * at, what, in.word(at + kCopyBytesWord),
                    in.word(at + kCopyRegionWord), in.word(at + kCopyOffsetWord));
  return text;
}

}  // namespace

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> stream) {
  const gpu::WordReader in(stream);
  if (!in.has(kHeaderWords - 1) || in.word(kMagicWord) != kMagic) return std::nullopt;
  if (in.word(kVersionWord) != kVersion)
    return malformed(fmt::format("is of version {}, not {}", in.word(kVersionWord), kVersion));
  const size_t regions = in.word(kRegionCountWord), launches = in.word(kLaunchCountWord);
  const size_t copies_in = in.word(kCopyInCountWord), copies_out = in.word(kCopyOutCountWord);
  const size_t program = in.word(kProgramWord), program_bytes = in.word(kProgramBytesWord);
  if (regions > static_cast<size_t>(kMaxRegions) || !in.has(kHeaderWords + regions - 1))
    return malformed("has more regions than bytes");
  const size_t copies = kHeaderWords + regions;
  const size_t first_launch = copies + kCopyWords * (copies_in + copies_out);
  if (!in.has(first_launch - 1)) return malformed("ends within its copies");
  if (program_bytes == 0 || program > stream.size() || program_bytes > stream.size() - program)
    return malformed("ends within its program");
  std::string text = fmt::format("{} for sm_{}, blocks of {} threads\n",
                                 in.word(kFormWord) == kPtxForm ? "PTX" : "CUDA C",
                                 in.word(kArchWord), in.word(kThreadsWord));
  for (size_t r = 0; r < regions; ++r)
    text += fmt::format("region {}: {} bytes{}\n", r, in.word(kHeaderWords + r),
                        r == in.word(kConstantsWord) ? ", constants" : "");
  text += copies_text(in, copies, copies_in, "copy in");
  size_t broken = 0;
  const std::optional<std::string> lines = gpu::launches_text(in, first_launch, launches, broken);
  if (!lines) return malformed(fmt::format("ends within launch {}", broken));
  text += *lines + copies_text(in, copies + kCopyWords * copies_in, copies_out, "copy out");
  return text + "\n" +
         std::string(reinterpret_cast<const char*>(stream.data()) + program, program_bytes - 1);
}

}  // namespace intarsia::targets::cuda
