#include <fmt/format.h>

#include "intarsia/layers/layer_target.h"
#include "intarsia/plugin/stream_places.h"
#include "stream_words.h"

namespace intarsia::layers {
namespace {

class LayerStreamWriter {
 public:
  LayerStreamWriter(const tir::Module& module, const Plan& plan, const tir::Func& func)
      : func_(func), places_(module, plan, func, kConstantAlignment) {}

  CommandStream run(const Library& library, const std::string& device) {
    stream_.func = func_.name;
    stream_.device = device;
    std::vector<uint32_t> layers;
    const std::vector<tir::Stmt> statements = statements_of(func_.body);
    for (const tir::Stmt& statement : statements) {
      append(std::get<tir::Intrinsic>(statement->node), layers);
      stream_.operators.push_back(statement->comment);
    }
    stream_.regions = places_.regions();
    stream_.constants = places_.constants();
    std::vector<uint32_t> words = {LAYERS_MAGIC, LAYERS_VERSION, library_word(library.name),
                                   static_cast<uint32_t>(stream_.regions.size()),
                                   static_cast<uint32_t>(statements.size())};
    for (const int64_t bytes : places_.extents()) words.push_back(static_cast<uint32_t>(bytes));
    words.insert(words.end(), layers.begin(), layers.end());
    for (const uint32_t word : words)
      for (int shift = 0; shift < 32; shift += 8)
        stream_.commands.push_back(static_cast<uint8_t>(word >> shift));
    return std::move(stream_);
  }

 private:
  static constexpr size_t kConstantAlignment = 16;

  static uint32_t number(const std::variant<tir::BufferRun, tir::Expr>& operand) {
    return static_cast<uint32_t>(std::get<tir::IntImm>(std::get<tir::Expr>(operand)->node).value);
  }

  void append(const tir::Intrinsic& intrinsic, std::vector<uint32_t>& words) {
    const uint32_t present = number(intrinsic.operands.at(0));
    size_t next = 1;
    for (; next <= kFieldWords; ++next) words.push_back(number(intrinsic.operands.at(next)));
    for (size_t operand = 0; operand < kOperands; ++operand) {
      if ((present >> operand & 1) == 0) {
        words.insert(words.end(), {LAYERS_ABSENT, 0, 0});
        continue;
      }
      const auto& run = std::get<tir::BufferRun>(intrinsic.operands.at(next++));
      const StreamPlace place = places_.of(run);
      const int64_t bytes = run.count * bits(func_.buffer(run.buffer).type) / 8;
      words.insert(words.end(),
                   {static_cast<uint32_t>(place.region), static_cast<uint32_t>(place.offset),
                    static_cast<uint32_t>(bytes)});
    }
  }

  const tir::Func& func_;
  StreamPlaces places_;
  CommandStream stream_;
};

}  // namespace

Result<Artifacts> make_streams(const Library& library, const Target& device,
                               const tir::Module& module, const Plan& plan) {
  if (plan.memory.pools.size() + 1 > LAYERS_MAX_REGIONS)
    return Diagnostics(fmt::format("target '{}'", device.name),
                       fmt::format("the board has {} memories, a stream of layers addresses {}",
                                   plan.memory.pools.size(), LAYERS_MAX_REGIONS - 1),
                       "leave memories out of the board's description");
  Artifacts artifacts;
  for (const tir::Func& func : module.funcs)
    if (func.target == device.name && func.name != module.entry)
      artifacts.streams.push_back(LayerStreamWriter(module, plan, func).run(library, device.name));
  return artifacts;
}

}  // namespace intarsia::layers
