#include "placement.h"

#include <algorithm>
#include <optional>

#include "cascade_shape.h"

namespace intarsia::targets::ethos_n {
namespace {

// Storages that one layer writes and one reads, the next.
bool has_one_reader(const Program& program, size_t writer) {
  const int32_t storage = program.layers[writer].output.storage;
  if (program.storages[static_cast<size_t>(storage)].kind != Storage::Kind::Intermediate)
    return false;
  for (size_t i = 0; i < program.layers.size(); ++i) {
    const Layer& layer = program.layers[i];
    if (i != writer && layer.output.storage == storage) return false;
    for (const FeatureMap& map : layer.inputs)
      if (map.storage == storage && i != writer + 1) return false;
  }
  return true;
}

bool is_one_stripe(const StripePlan& plan) {
  return plan.count == 1 && plan.depth_count == 1 && !plan.needs_neighbours;
}

}  // namespace

std::vector<LayerPlacement> place_layers(const Variant& variant, const Program& program,
                                         const std::vector<StripePlan>& plans, size_t first) {
  std::vector<LayerPlacement> placements;
  int64_t next = 0;
  std::optional<int64_t> kept;  // where the result of the layer before is
  for (size_t i = first; i < program.layers.size(); ++i) {
    const Layer& layer = program.layers[i];
    const StripePlan& plan = plans[i];
    LayerPlacement placement;
    placement.plan = plan;
    size_t loaded = 0;
    for (const FeatureMap& input : layer.inputs) {
      const bool stays = kept && input.storage == program.layers[i - 1].output.storage;
      placement.input_stays.push_back(stays);
      loaded += stays ? 0 : 1;
    }
    // Behind the layer before, so that the first commands of the one need not wait for the last of the
    // other; from the beginning when there is no room.
    const int64_t bytes = plan.bank_bytes(loaded);
    if (next + bytes > variant.emc_bytes) next = 0;
    int64_t at = placement.kernel = next;
    at += kKernelBytes;
    for (const bool stays : placement.input_stays) {
      placement.inputs.push_back(stays ? *kept : at);
      if (!stays) at += plan.input_slots * plan.input_slot_bytes;
    }
    placement.weights = at;
    placement.outputs = at + plan.weight_slots * plan.weight_slot_bytes;
    next += bytes;

    // Whether the result may stay: the next layer has to fit beside it.
    kept.reset();
    if (i + 1 < program.layers.size() && is_one_stripe(plan) && !is_copy(layer) &&
        has_one_reader(program, i)) {
      const Layer& reader = program.layers[i + 1];
      const StripePlan& then = plans[i + 1];
      const bool reads =
          std::any_of(reader.inputs.begin(), reader.inputs.end(), [&](const FeatureMap& map) {
            return map.storage == layer.output.storage && is_same_whole(layer.output, map);
          });
      if (reads && is_one_stripe(then) && !is_vector_product(reader) && !is_copy(reader)) {
        const int64_t needed = then.bank_bytes(reader.inputs.size() - 1);
        const bool behind = next + needed <= variant.emc_bytes,
                   before = needed <= placement.outputs;
        if (behind || before) kept = placement.outputs;
      }
    }
    placement.output_stays = kept.has_value();
    placements.push_back(std::move(placement));
  }
  return placements;
}

}  // namespace intarsia::targets::ethos_n
