#include "stripes/stripes.h"

#include <algorithm>

#include "intarsia/npu/block_sizes.h"
#include "intarsia/npu/map_layout.h"
#include "intarsia/plugin/rounding.h"
#include "weights/weight_layout.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kUnit = 8;  // rows of a group
constexpr int64_t kSlots = 2;

bool is_mean(const Layer& layer) {
  return layer.ple && (layer.ple->operation == PleOperation::MEAN_XY_7X7 ||
                       layer.ple->operation == PleOperation::MEAN_XY_8X8);
}

// Channels of an output stripe come in whole rounds of the OGs, and in whole bricks.
int64_t depth_unit(const Variant& variant) {
  return std::max<int64_t>(16, variant.all_ogs());
}

class Planner {
 public:
  Planner(const Variant& variant, const Layer& layer) : variant_(variant), layer_(layer) {}

  // Where there is no room for a stripe that arrives, or leaves, beside the one in work: without.
  std::optional<StripePlan> run() {
    if (std::optional<StripePlan> plan = cut()) return plan;
    overlaps_ = false;
    return cut();
  }

 private:
  std::optional<StripePlan> cut() {
    const int64_t all = layer_.output.depth;
    if (std::optional<StripePlan> plan = with_height(full_height(), all)) return plan;
    if (layer_.mce && layer_.mce->mode != MceMode::Depthwise)
      for (const int64_t depth : depths())
        if (std::optional<StripePlan> plan = with_height(full_height(), depth)) return plan;
    if (needs_whole_height(layer_)) return std::nullopt;
    for (int64_t rows = round_up(full_height(), unit()) - unit(); rows >= unit(); rows -= unit())
      if (std::optional<StripePlan> plan = with_height(rows, all)) return plan;
    if (layer_.mce && layer_.mce->mode != MceMode::Depthwise)
      for (int64_t rows = round_up(full_height(), unit()) - unit(); rows >= unit(); rows -= unit())
        for (const int64_t depth : depths())
          if (std::optional<StripePlan> plan = with_height(rows, depth)) return plan;
    return std::nullopt;
  }

  const FeatureMap& input() const { return layer_.inputs.at(0); }
  int64_t full_height() const { return is_vector() ? kUnit : input().height; }
  bool is_vector() const { return is_vector_product(layer_); }
  // Rows of the input: those of the output are whole groups too.
  int64_t unit() const { return kUnit * (layer_.mce ? rows_per_output_row(layer_) : 1); }
  // Whole multiples of the unit, the largest first, below all of it.
  std::vector<int64_t> depths() const {
    std::vector<int64_t> found = npu::piece_sizes(layer_.output.depth, depth_unit(variant_));
    std::erase_if(found, [&](int64_t depth) { return depth >= layer_.output.depth; });
    return found;
  }

  std::optional<StripePlan> with_height(int64_t rows, int64_t depth) const {
    StripePlan plan;
    const FeatureMap &in = input(), &out = layer_.output;
    plan.input_rows = rows;
    plan.depth = depth;
    plan.depth_count = ceil_div(out.depth, depth);
    const int64_t factor = upscale_factor(layer_), ratio = rows_per_output_row(layer_);
    plan.mce_rows = layer_.mce ? (rows >= full_height() ? layer_.mce->height : rows * factor) : 0;
    plan.output_rows = rows >= full_height() ? out.height : rows * factor / ratio;
    plan.count = rows >= full_height() ? 1 : ceil_div(out.height, plan.output_rows);
    // A filter without padding makes fewer rows: all of them may come from one stripe and the one below it.
    const int64_t input_count = ceil_div(full_height(), rows);
    if (layer_.mce && input_count > 1)
      plan.needs_neighbours = layer_.mce->kernel_h > 1 || layer_.mce->pad_top > 0 || factor > 1;
    plan.input_slots = std::min(input_count, plan.slots_in_work() + (overlaps_ ? 1 : 0));
    plan.input_slot_bytes = is_vector()
                                ? round_up(ceil_div(in.depth, variant_.srams()), kGroupBytes)
                                : sram_bytes(variant_, rows, in.width, in.depth);
    // A vector's bricks are whole.
    if (is_vector())
      plan.input_slot_bytes = round_up(in.depth, kBrickGroupBytes) / 16 / variant_.srams() * 16;
    plan.output_slots = std::min<int64_t>(plan.count * plan.depth_count, overlaps_ ? kSlots : 1);
    plan.output_slot_bytes = sram_bytes(variant_, plan.output_rows, out.width, depth);
    if (is_mean(layer_)) plan.output_slot_bytes = sram_bytes(variant_, 1, 1, depth);
    const auto fits = [&] { return plan.bank_bytes(layer_.inputs.size()) <= variant_.emc_bytes; };
    if (!layer_.mce) {
      plan.weight_slots = 0;
      if (!layer_.ple) plan.output_slots = 0;  // a copy goes out from where it came in
      return fits() ? std::optional(plan) : std::nullopt;
    }
    plan.weight_slot_bytes = most_bank_bytes(variant_, *layer_.mce, depth);
    plan.weight_slots = plan.depth_count;
    if (fits()) return plan;
    plan.keeps_weights = plan.depth_count <= kSlots;
    plan.weight_slots = std::min(plan.depth_count, kSlots);
    return fits() ? std::optional(plan) : std::nullopt;
  }

  const Variant& variant_;
  const Layer& layer_;
  bool overlaps_ = true;
};

}  // namespace

bool needs_whole_height(const Layer& layer) {
  if (!layer.ple) return false;
  switch (layer.ple->operation) {
    case PleOperation::MAXPOOL_3X3_2_2_EVEN:
    case PleOperation::MAXPOOL_3X3_2_2_ODD:
    case PleOperation::MEAN_XY_7X7:
    case PleOperation::MEAN_XY_8X8:
    case PleOperation::AVGPOOL_3X3_1_1_UDMA:
    case PleOperation::MAXPOOL1D:
    case PleOperation::TRANSPOSE_XY:
      return true;
    default:
      return is_vector_product(layer);
  }
}

int64_t sram_bytes(const Variant& variant, int64_t height, int64_t width, int64_t channels) {
  // Bricks hold a channel of each bank.
  const npu::MapLayout layout = {8, 8, variant.srams()};
  return layout.stored_elements(height, width, channels) / variant.srams();
}

int64_t rows_per_output_row(const Layer& layer) {
  if (!layer.ple) return 1;
  switch (layer.ple->operation) {
    case PleOperation::DOWNSAMPLE_2X2:
    case PleOperation::INTERLEAVE_2X2_2_2:
    case PleOperation::MAXPOOL_2X2_2_2:
    case PleOperation::MAXPOOL_3X3_2_2_EVEN:
    case PleOperation::MAXPOOL_3X3_2_2_ODD:
      return 2;
    default:
      return 1;
  }
}

std::optional<StripePlan> plan_stripes(const Variant& variant, const Layer& layer) {
  return Planner(variant, layer).run();
}

}  // namespace intarsia::targets::ethos_n
