// Softmax of int8: device/pool_softmax.h.
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/quantization.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

LowerKernel softmax_kernel(const OpView& view) {
  if (view.in(0).type != DataType::Int8 || view.out().type != DataType::Int8) return nullptr;
  const std::optional<SoftmaxScaling> scaling = softmax_scaling(
      view.in(0).quantization.scale[0], view.node.attrs<graph::SoftmaxAttrs>().beta);
  if (!scaling) return nullptr;
  constexpr int64_t kDifferences = 256;
  std::vector<uint8_t> table;
  for (int64_t difference = 0; difference < kDifferences; ++difference) {
    uint32_t value = 0;
    if (-difference >= scaling->diff_min) {
      const auto shifted =
          static_cast<int32_t>(-difference * (int64_t{1} << scaling->multiplier.shift));
      value = static_cast<uint32_t>(graph::exp_of_negative<5>(
          graph::doubling_high_product(shifted, scaling->multiplier.value)));
    }
    for (int byte = 0; byte < 4; ++byte) table.push_back(static_cast<uint8_t>(value >> (8 * byte)));
  }
  const int64_t count = view.in(0).shape.back(), rows = element_count(view.in(0).shape) / count;
  return [table = std::move(table), rows, count](OpLowering& op) {
    op.declare({Shape{rows, count}}, Shape{rows, count});
    const BufferId exponentials = op.constant("exponentials", DataType::Int32, {kDifferences},
                                              table, tir::ConstantUse::Weights);
    return call_kernel(
        op.b.func(),
        {"intarsia_softmax_table_s8", {rows, count}, {op.in(0)}, op.out(), {}, {exponentials}});
  };
}

}  // namespace intarsia::targets::cortex_m
