#include "weights/weight_store.h"

#include <algorithm>

namespace intarsia::targets::ethos_n {

const std::vector<WeightStripe>& WeightStore::stripes(size_t layer, int64_t depth) {
  std::vector<WeightStripe>& made = stripes_[{layer, depth}];
  if (!made.empty()) return made;
  const MceStep& step = *program_.layers[layer].mce;
  const WeightLayout& layout = layouts_.try_emplace(layer, variant_, step).first->second;
  for (int64_t first = 0; first < step.depth; first += depth)
    made.push_back(layout.stripe(first, std::min(depth, step.depth - first)));
  return made;
}

}  // namespace intarsia::targets::ethos_n
