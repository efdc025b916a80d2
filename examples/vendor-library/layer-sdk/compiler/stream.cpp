#include <fmt/format.h>

#include "intarsia/plugin/stream_places.h"
#include "layer_sdk_kind.h"

namespace intarsia::targets::layer_sdk {
namespace {

void append_word(int64_t value, std::vector<uint8_t>& bytes) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

// Where inputs and outputs are, and the name under which the runtime knows the network.
CommandStream stream_of(const Target& device, const tir::Module& module, const Plan& plan,
                        const tir::Func& func, const tir::Intrinsic& intrinsic) {
  StreamPlaces places(module, plan, func, 16);
  std::vector<uint8_t> tensors;
  int64_t inputs = 0, outputs = 0;
  for (size_t i = 1; i < intrinsic.operands.size(); ++i) {
    const auto& run = std::get<tir::BufferRun>(intrinsic.operands[i]);
    ++(run.access == tir::Access::Read ? inputs : outputs);
    const StreamPlace place = places.of(run);
    for (const int64_t value :
         {int64_t{place.region}, place.offset, func.buffer(run.buffer).bytes()})
      append_word(value, tensors);
  }
  CommandStream stream;
  stream.func = func.name;
  stream.device = device.name;
  stream.operators = {func.node};
  for (const int64_t value : {kMagic, kVersion, inputs, outputs})
    append_word(value, stream.commands);
  stream.commands.insert(stream.commands.end(), tensors.begin(), tensors.end());
  stream.commands.insert(stream.commands.end(), func.name.begin(), func.name.end());
  stream.commands.push_back(0);
  stream.regions = places.regions();
  return stream;
}

}  // namespace

Result<Artifacts> make_streams(const Target& device, const tir::Module& module, const Plan& plan) {
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs) {
    if (func.target != device.name || func.name == module.entry) continue;
    const auto& intrinsic = std::get<tir::Intrinsic>(statements_of(func.body).at(0)->node);
    const auto& network = std::get<tir::BufferRun>(intrinsic.operands.at(0));
    const auto& text = module.constant(func.buffer(network.buffer).constant).bytes;
    artifacts.sources.push_back({func.name + ".json", std::string(text.begin(), text.end())});
    artifacts.streams.push_back(stream_of(device, module, plan, func, intrinsic));
  }
  return artifacts;
}

}  // namespace intarsia::targets::layer_sdk
