#include "intarsia/gpu/launches.h"
#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

constexpr size_t kConstantAlignment = 16;  // of the widest vector a kernel may load

static_assert(kLaunchWords == gpu::kLaunchHeaderWords);

CommandStream stream_of(const Target& device, const tir::Module& module, const Plan& plan,
                        const tir::Func& func) {
  gpu::Launches launches =
      gpu::launches_of(dialect(), device, module, plan, func, kConstantAlignment);
  std::vector<uint32_t> header(kHeaderWords);
  header[kMagicWord] = static_cast<uint32_t>(kMagic);
  header[kVersionWord] = static_cast<uint32_t>(kVersion);
  header[kRegionCountWord] = static_cast<uint32_t>(launches.region_bytes.size());
  header[kLaunchCountWord] = static_cast<uint32_t>(launches.uses.size());
  header[kSourceWord] = static_cast<uint32_t>(
      4 * (header.size() + launches.region_bytes.size() + launches.words.size()));
  header[kSourceBytesWord] = static_cast<uint32_t>(launches.source.size());
  for (const int64_t bytes : launches.region_bytes) header.push_back(static_cast<uint32_t>(bytes));
  CommandStream stream = std::move(launches.stream);
  gpu::append_words(header, stream.commands);
  gpu::append_words(launches.words, stream.commands);
  stream.commands.insert(stream.commands.end(), launches.source.begin(), launches.source.end());
  return stream;
}

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  return gpu::make_streams(
      device, module, plan, static_cast<size_t>(kMaxRegions),
      [&](const tir::Func& func) { return stream_of(device, module, plan, func); });
}

}  // namespace intarsia::targets::opencl
