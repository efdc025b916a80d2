#include "estimate.h"

#include <algorithm>

#include "intarsia/rounding.h"
#include "legalise.h"
#include "weight_layout.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr double kClockMhz = 1000, kBusBytes = 16,
                 kLayerCycles = 2500;  // the stack's least for a stripe

struct PatchCycles {
  PleOperation operation;
  int64_t cycles;
};
constexpr PatchCycles kPatchCycles[] = {
    {PleOperation::ADDITION, 15},
    {PleOperation::ADDITION_RESCALE, 35},
    {PleOperation::AVGPOOL_3X3_1_1_UDMA, 97},
    {PleOperation::DOWNSAMPLE_2X2, 10},
    {PleOperation::INTERLEAVE_2X2_2_2, 13},
    {PleOperation::LEAKY_RELU, 37},
    {PleOperation::MAXPOOL_2X2_2_2, 13},
    {PleOperation::MAXPOOL_3X3_2_2_EVEN, 37},
    {PleOperation::MAXPOOL_3X3_2_2_ODD, 37},
    {PleOperation::MEAN_XY_7X7, 37},
    {PleOperation::MEAN_XY_8X8, 37},
    {PleOperation::PASSTHROUGH, 6},
    {PleOperation::SIGMOID, 41},
};

double mce_cycles(const Variant& variant, const MceStep& step) {
  const int64_t igs = variant.all_igs(),
                ogs = step.mode == MceMode::Depthwise ? igs : variant.all_ogs();
  if (step.mode == MceMode::FullyConnected)
    return static_cast<double>(round_up(step.channels, kBrickGroupBytes) *
                               round_up(step.depth, ogs)) /
           static_cast<double>(8 * igs * ogs);
  const int64_t inputs = step.mode == MceMode::Depthwise ? igs : round_up(step.channels, igs);
  return static_cast<double>(step.kernel_h * step.kernel_w * round_up(step.height, 4) *
                             round_up(step.width, 2) * inputs * round_up(step.depth, ogs)) /
         static_cast<double>(8 * igs * ogs);
}

double ple_cycles(const Variant& variant, PleOperation operation, const Layer& layer) {
  int64_t cycles = 40;
  for (const PatchCycles& row : kPatchCycles)
    if (row.operation == operation) cycles = row.cycles;
  const int64_t height = layer.mce ? layer.mce->height : layer.output.height;
  const int64_t width = layer.mce ? layer.mce->width : layer.output.width;
  const int64_t channels = ceil_div(layer.mce ? layer.mce->depth : layer.output.depth, variant.ces);
  return static_cast<double>(cycles * ceil_div(height, 4) * ceil_div(width, 4) * channels) /
         static_cast<double>(variant.ple_lanes);
}

double bytes_of(const Variant& variant, const Layer& layer) {
  double bytes = 0;
  for (const FeatureMap& map : layer.inputs)
    bytes += static_cast<double>(map.height * map.width * map.depth);
  bytes += static_cast<double>(layer.output.height * layer.output.width * layer.output.depth);
  if (layer.mce)
    bytes += static_cast<double>(layer.mce->depth * weights_of_ofm(variant, *layer.mce));
  return bytes;
}

}  // namespace

CostEstimate estimate(const Target& member, const graph::Module& module,
                      const graph::Function& function, const graph::Node& node) {
  const Variant& variant = variant_of(member);
  CostEstimate result;
  result.clock_mhz = kClockMhz;
  if (node.kind == graph::OpKind::Compiled) return result;
  std::vector<graph::TensorId> inputs;
  for (const graph::TensorId id : node.inputs)
    if (id.valid()) inputs.push_back(id);
  Legaliser legaliser(variant, module, function, inputs, node.outputs);
  if (legaliser.add(node)) return result;
  for (const Layer& layer : legaliser.finish().layers) {
    const double mce = layer.mce ? mce_cycles(variant, *layer.mce) : 0;
    const double ple = layer.ple ? ple_cycles(variant, layer.ple->operation, layer) : 0;
    result.cycles += std::max({mce, ple, bytes_of(variant, layer) / kBusBytes, kLayerCycles});
  }
  return result;
}

}  // namespace intarsia::targets::ethos_n
