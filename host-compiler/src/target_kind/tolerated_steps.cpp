#include "target_kind/tolerated_steps.h"

#include <algorithm>

namespace intarsia {

int32_t tolerated_steps(const TargetRegistry& registry, const Target& device,
                        const graph::Function& function, const graph::Node& node) {
  const bool has_steps = std::ranges::any_of(node.outputs, [&](graph::TensorId id) {
    const int width = bits(function.tensor(id).type);
    return width == 8 || width == 16;
  });
  return has_steps ? registry.kind_of(device).tolerance(device, node) : 0;
}

}  // namespace intarsia
