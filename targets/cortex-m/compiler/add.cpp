// Element-wise addition of two activations of one shape.
#include "channels.h"
#include "kernels.h"

namespace intarsia::targets::cortex_m {

using namespace standard_lowering;

LowerLeaf add_leaf(const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  const auto is_plain = [](const graph::Tensor& t) {
    return t.type == DataType::Int8 && t.quantization.scale.size() == 1 && !t.constant.valid();
  };
  if (!is_plain(a) || !is_plain(b) || !is_plain(out) || a.shape != out.shape || b.shape != out.shape ||
      view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  const std::optional<AddRescaling> r =
      add_rescaling(DataType::Int8, a.quantization.scale[0], b.quantization.scale[0], out.quantization.scale[0]);
  constexpr int kLeftShift = 20, kMostShift = 30, kMostOutShift = 22;
  if (!r || r->left_shift != kLeftShift || r->a.shift < -kMostShift || r->b.shift < -kMostShift ||
      r->output.shift > -1 || r->output.shift < -kMostOutShift)
    return nullptr;
  const Range range = output_range(view, view.node.attrs<graph::BinaryAttrs>().activation);
  const int64_t count = element_count(out.shape);
  std::vector<int64_t> numbers = {count,
                                  a.quantization.zero_point[0], r->a.value, -r->a.shift,
                                  b.quantization.zero_point[0], r->b.value, -r->b.shift,
                                  r->output.value, -r->output.shift, out.quantization.zero_point[0],
                                  range.low, range.high};
  return [numbers, count](OpLowering& op) {
    op.declare({Shape{count}, Shape{count}}, Shape{count});
    return call_kernel(op.b.func(), {"intarsia_add_s8", numbers, {op.in(0), op.in(1)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
