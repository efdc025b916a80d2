#include "schedule/traffic.h"

#include "intarsia/npu/map_layout.h"

namespace intarsia::targets::ethos_n {

int64_t transfer_bytes(const FeatureMap& map, int64_t rows) {
  if (map.layout == Layout::Nhwc) return rows * map.width * map.depth;
  return npu::MapLayout{8, 8, 1}.stored_elements(rows, map.columns, map.depth);
}

Traffic traffic_of(const Layer& layer, size_t number, const LayerPlacement& placement,
                   WeightStore& weights, bool loads_kernel) {
  const StripePlan& plan = placement.plan;
  Traffic traffic;
  traffic.stripes = plan.count * plan.depth_count;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    if (placement.input_stays[i]) continue;
    traffic.bytes += is_vector_product(layer)
                         ? round_up(layer.inputs[i].depth, kBrickGroupBytes)
                         : transfer_bytes(layer.inputs[i], layer.inputs[i].height);
  }
  if (!placement.output_stays) traffic.bytes += transfer_bytes(layer.output, layer.output.height);
  if (layer.mce)
    for (const WeightStripe& stripe : weights.stripes(number, plan.depth))
      traffic.bytes +=
          static_cast<int64_t>(stripe.bytes.size()) * (plan.keeps_weights ? 1 : plan.count);
  if (loads_kernel) traffic.bytes += kKernelBytes;
  return traffic;
}

}  // namespace intarsia::targets::ethos_n
