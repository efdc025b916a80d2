#include "estimate.h"

#include <algorithm>

#include "intarsia/npu/timeline.h"
#include "intarsia/plugin/rounding.h"
#include "legalise/legalise.h"
#include "network/network_function.h"
#include "schedule/sections.h"
#include "weights/weight_store.h"

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

double layer_cycles(const Variant& variant, const Layer& layer) {
  const double mce = layer.mce ? mce_cycles(variant, *layer.mce) : 0;
  const double ple = layer.ple ? ple_cycles(variant, layer.ple->operation, layer) : 0;
  return std::max({mce, ple, kLayerCycles});
}

}  // namespace

CostEstimate estimate(const Target& device, const graph::Module& module,
                      const graph::Function& function, const LoweringOptions&) {
  const Variant& variant = variant_of(device);
  CostEstimate result{0, kClockMhz};
  // A network of another compiler runs here or nowhere.
  if (is_compiled_network(function)) return result;
  Legaliser legaliser(variant, module, function, function.inputs, function.outputs);
  for (const graph::Node& node : function.nodes)
    INTARSIA_CHECK(!legaliser.add(node), "the patterns take what has layers");
  const Program program = legaliser.finish();
  WeightStore weights(variant, program);
  npu::Timeline timeline({});
  for (const Section& section : cut_into_sections(variant, program, weights)) {
    double computing = 0;
    for (size_t i = section.first; i < section.end; ++i)
      computing += layer_cycles(variant, program.layers[i]);
    npu::OperationCost cost;
    cost.pipeline = computing;
    cost.ports[0] = static_cast<double>(section.traffic.bytes) / kBusBytes;
    timeline.operation(cost, true);
  }
  result.cycles = timeline.finish();
  return result;
}

}  // namespace intarsia::targets::ethos_n
