#include <fmt/format.h>

#include "intarsia/plugin/stream_places.h"
#include "opencl_kind.h"

namespace intarsia::targets::opencl {
namespace {

constexpr size_t kConstantAlignment = 16;  // of the widest vector a kernel may load

class StreamWriter {
 public:
  StreamWriter(const tir::Module& module, const Plan& plan, const tir::Func& func)
      : module_(module), func_(func), places_(module, plan, func, kConstantAlignment) {}

  CommandStream run(const std::string& device) {
    stream_.func = func_.name;
    stream_.device = device;
    std::vector<uint32_t> launches;
    int64_t launch_count = 0;
    std::vector<uint8_t> source;
    for (const tir::Stmt& statement : statements_of(func_.body)) {
      const auto& intrinsic = std::get<tir::Intrinsic>(statement->node);
      if (intrinsic.name == kSource) {
        source =
            module_
                .constant(func_.buffer(std::get<tir::BufferRun>(intrinsic.operands.at(0)).buffer)
                              .constant)
                .bytes;
        continue;
      }
      append(intrinsic, launches);
      ++launch_count;
      if (stream_.operators.empty() || stream_.operators.back() != statement->comment)
        stream_.operators.push_back(statement->comment);
    }
    stream_.regions = places_.regions();
    stream_.constants = places_.constants();
    std::vector<uint32_t> header(kHeaderWords);
    header[kMagicWord] = static_cast<uint32_t>(kMagic);
    header[kVersionWord] = static_cast<uint32_t>(kVersion);
    header[kRegionCountWord] = static_cast<uint32_t>(stream_.regions.size());
    header[kLaunchCountWord] = static_cast<uint32_t>(launch_count);
    header[kSourceWord] =
        static_cast<uint32_t>(4 * (header.size() + stream_.regions.size() + launches.size()));
    header[kSourceBytesWord] = static_cast<uint32_t>(source.size());
    for (const int64_t bytes : places_.extents()) header.push_back(static_cast<uint32_t>(bytes));
    header.insert(header.end(), launches.begin(), launches.end());
    for (const uint32_t word : header)
      for (int shift = 0; shift < 32; shift += 8)
        stream_.commands.push_back(static_cast<uint8_t>(word >> shift));
    stream_.commands.insert(stream_.commands.end(), source.begin(), source.end());
    return std::move(stream_);
  }

 private:
  void append(const tir::Intrinsic& intrinsic, std::vector<uint32_t>& words) {
    std::vector<uint32_t> numbers, addresses;
    for (const auto& operand : intrinsic.operands) {
      if (const auto* run = std::get_if<tir::BufferRun>(&operand)) {
        const StreamPlace place = places_.of(*run);
        addresses.insert(addresses.end(), {static_cast<uint32_t>(place.region),
                                           static_cast<uint32_t>(place.offset)});
      } else {
        numbers.push_back(
            static_cast<uint32_t>(std::get<tir::IntImm>(std::get<tir::Expr>(operand)->node).value));
      }
    }
    INTARSIA_CHECK(numbers.size() == kArgumentCountWord, "a launch has a kernel and three extents");
    numbers.push_back(static_cast<uint32_t>(addresses.size() / 2));
    words.insert(words.end(), numbers.begin(), numbers.end());
    words.insert(words.end(), addresses.begin(), addresses.end());
  }

  const tir::Module& module_;
  const tir::Func& func_;
  StreamPlaces places_;
  CommandStream stream_;
};

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  if (plan.memory.pools.size() + 1 > static_cast<size_t>(kMaxRegions))
    return Diagnostics(fmt::format("target '{}'", device.name),
                       fmt::format("the board has {} memories, a program addresses {}",
                                   plan.memory.pools.size(), kMaxRegions - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == device.name && func.name != module.entry)
      artifacts.streams.push_back(StreamWriter(module, plan, func).run(device.name));
  return artifacts;
}

}  // namespace intarsia::targets::opencl
