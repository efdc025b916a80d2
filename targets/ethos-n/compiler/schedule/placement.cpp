#include "schedule/placement.h"

#include <algorithm>
#include <optional>

#include "schedule/cascade_shape.h"

namespace intarsia::targets::ethos_n {
namespace {

bool is_one_stripe(const StripePlan& plan) {
  return plan.count == 1 && plan.depth_count == 1 && !plan.needs_neighbours;
}

}  // namespace

std::vector<bool> feeds_next_only(const Program& program) {
  struct Uses {
    size_t writers = 0, readers = 0, last_reader = 0;  // a layer counts once for each map
  };
  std::vector<Uses> uses(program.storages.size());
  for (size_t i = 0; i < program.layers.size(); ++i) {
    const Layer& layer = program.layers[i];
    ++uses[static_cast<size_t>(layer.output.storage)].writers;
    for (const FeatureMap& map : layer.inputs) {
      Uses& of = uses[static_cast<size_t>(map.storage)];
      if (of.readers == 0 || of.last_reader != i) ++of.readers;
      of.last_reader = i;
    }
  }
  std::vector<bool> result(program.layers.size());
  for (size_t i = 0; i < program.layers.size(); ++i) {
    const auto storage = static_cast<size_t>(program.layers[i].output.storage);
    const Uses& of = uses[storage];
    result[i] = program.storages[storage].kind == Storage::Kind::Intermediate && of.writers == 1 &&
                of.readers == 1 && of.last_reader == i + 1;
  }
  return result;
}

std::vector<LayerPlacement> place_layers(const Variant& variant, const Program& program,
                                         const std::vector<StripePlan>& plans,
                                         const std::vector<bool>& feeds_next, size_t first,
                                         size_t end) {
  std::vector<LayerPlacement> placements;
  int64_t next = 0;
  std::optional<int64_t> kept;  // where the result of the layer before is
  for (size_t i = first; i < end; ++i) {
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
    if (i + 1 < end && is_one_stripe(plan) && !is_copy(layer) && feeds_next[i]) {
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
