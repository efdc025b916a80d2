#include "schedule/cascade.h"

#include <algorithm>

#include "intarsia/npu/block_sizes.h"
#include "intarsia/plugin/rounding.h"
#include "schedule/cascade_shape.h"
#include "schedule/cascade_steps.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kMostParts = 64;

class Search {
 public:
  Search(const Variant& variant, const Program& program, const PleKernel* before,
         WeightStore& weights, Cascade shape)
      : variant_(variant),
        program_(program),
        before_(before),
        weights_(weights),
        shape_(std::move(shape)) {}

  std::optional<Cascade> run() {
    const std::vector<int64_t> rows = row_counts();
    set_reloads(kMostParts);
    if (!fits(rows.back(), false)) return std::nullopt;
    const size_t reloading = first_that_fits(rows);
    set_reloads(0);
    // With all weights there for good DRAM sees everything once, however short the stripes are.
    std::optional<Cascade> best;
    if (fits(rows.back(), false)) {
      const size_t keeping = first_that_fits(rows);
      best = best_of(rows[keeping]);
      if (keeping <= reloading) return best;
    }
    for (size_t i = reloading; i < rows.size(); ++i) {
      // Parts as large as there is room for, and what comes again and again stays where it can.
      int64_t parts = 1;
      for (set_reloads(parts); parts < kMostParts && !fits(rows[i], false); set_reloads(parts))
        parts *= 2;
      keep_weights(rows[i]);
      std::optional<Cascade> made = best_of(rows[i]);
      if (made && (!best || made->traffic.with_commands() < best->traffic.with_commands()))
        best = std::move(made);
    }
    return best;
  }

 private:
  // Most rows of a piece: the fewest pieces first.
  std::vector<int64_t> row_counts() const {
    int64_t height = 8;
    for (const CascadeLayer& layer : shape_.layers)
      height = std::max(height, program_.layers[layer.number].output.height);
    return npu::piece_sizes(height, 8);
  }

  // 0 parts: none does.
  void set_reloads(int64_t parts) {
    for (CascadeLayer& layer : shape_.layers) set_reloads(layer, parts);
  }
  // Channels of a part come in whole rounds of the OGs. A depthwise one's are those of its input: it has no parts.
  void set_reloads(CascadeLayer& layer, int64_t parts) const {
    const Layer& from = program_.layers[layer.number];
    const int64_t unit = std::max<int64_t>(16, variant_.all_ogs());
    layer.reloads = parts > 0;
    layer.part = from.mce ? from.mce->depth : from.output.depth;
    if (parts > 1 && from.mce && from.mce->mode == MceMode::Convolution)
      layer.part = std::min(layer.part, round_up(ceil_div(layer.part, parts), unit));
  }

  std::optional<Cascade> attempt(int64_t rows, bool overlaps) const {
    Cascade made = shape_;
    if (!assign_rows(variant_, program_, made, rows) ||
        !order_steps(program_, made, before_, overlaps) ||
        !place_cascade(variant_, program_, made, weights_))
      return std::nullopt;
    return made;
  }
  bool fits(int64_t rows, bool overlaps) const { return attempt(rows, overlaps).has_value(); }

  // Transfers beside the computation where there is room for it.
  std::optional<Cascade> best_of(int64_t rows) const {
    std::optional<Cascade> made = attempt(rows, true);
    return made ? std::move(made) : attempt(rows, false);
  }

  // The last one does. Longer stripes need more room, with exceptions that are not looked for.
  size_t first_that_fits(const std::vector<int64_t>& rows) const {
    size_t low = 0, high = rows.size() - 1;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (fits(rows[middle], false))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  // The weights that would travel most stay first.
  void keep_weights(int64_t rows) {
    std::vector<std::pair<int64_t, size_t>> order;
    if (!assign_rows(variant_, program_, shape_, rows)) return;
    for (size_t i = 0; i < shape_.layers.size(); ++i) {
      const CascadeLayer& layer = shape_.layers[i];
      if (!program_.layers[layer.number].mce) continue;
      const auto bytes = static_cast<int64_t>(weights_.whole(layer.number).bytes.size());
      order.emplace_back(-bytes * (layer.plan.count - 1), i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [saved, i] : order) {
      const CascadeLayer before = shape_.layers[i];
      set_reloads(shape_.layers[i], 0);
      if (!fits(rows, false)) shape_.layers[i] = before;
    }
  }

  const Variant& variant_;
  const Program& program_;
  const PleKernel* before_;
  WeightStore& weights_;
  Cascade shape_;
};

}  // namespace

std::optional<Cascade> plan_cascade(const Variant& variant, const Program& program, size_t first,
                                    size_t end, const PleKernel* before, WeightStore& weights) {
  std::optional<Cascade> shape = shape_of(program, first, end);
  if (!shape || shape->layers.empty()) return std::nullopt;
  return Search(variant, program, before, weights, *std::move(shape)).run();
}

}  // namespace intarsia::targets::ethos_n
