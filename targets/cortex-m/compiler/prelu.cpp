// ReLU: device/clamp.h. PReLU of int8 and int16, with an alpha for each element or repeated, and leaky ReLU of int16: device/prelu.h.
#include <algorithm>

#include "intarsia/plugin/quantization.h"
#include "kernels.h"
#include "repeats.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// What follows the count in struct intarsia_prelu, where the kernels' arithmetic covers these factors.
std::optional<std::vector<int64_t>> prelu_numbers(const OpView& view, double above_factor,
                                                  double below_factor, int64_t alpha_zero) {
  const Multiplier above = quantize_multiplier(above_factor);
  Multiplier below = quantize_multiplier(below_factor);
  const bool wide = view.in(0).type == DataType::Int16;
  const int most_left = wide ? 14 : 7;
  constexpr int kMostRight = 22;
  // Alphas of almost nothing, as before a network is trained: a product has 24 bits, or 16, and less than a quarter is left of it.
  const int vanishing = wide ? -26 : -18;
  if (below.value == 0 || below.shift <= vanishing) below = {0, -1};
  if (above.shift > most_left || above.shift < -kMostRight || below.shift > -1 ||
      below.shift < -kMostRight || below.value < 0)
    return std::nullopt;
  return std::vector<int64_t>{zero_point(view.in(0)),
                              alpha_zero,
                              int64_t{1} << std::max(above.shift, 0),
                              above.value,
                              std::max(-above.shift, 0),
                              below.value,
                              -below.shift,
                              zero_point(view.out())};
}

bool is_plain_of(const graph::Tensor& tensor, DataType type) {
  return tensor.type == type && tensor.quantization.scale.size() == 1 &&
         (type == DataType::Int8 || zero_point(tensor) == 0);
}

}  // namespace

LowerKernel prelu_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &in = view.in(0), &alpha = view.in(1), &out = view.out();
  const bool wide = in.type == DataType::Int16;
  if (core == CoreClass::Lanes || (wide && lacks_simd(core)) ||
      (!wide && in.type != DataType::Int8) || !is_plain_of(in, in.type) ||
      !is_plain_of(out, in.type) || !is_plain_of(alpha, DataType::Int8) ||
      view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  const double in_scale = scale(in), out_scale = scale(out);
  const auto others =
      prelu_numbers(view, in_scale / out_scale,
                    in_scale * static_cast<double>(scale(alpha)) / out_scale, zero_point(alpha));
  const auto axes = repeated_axes(in.shape, alpha.shape, out.shape);
  if (!others || !axes) return nullptr;
  const RowKernel kernel{wide ? "intarsia_each_prelu_s16" : "intarsia_each_prelu_s8",
                         [others = *others](int64_t count) {
                           std::vector<int64_t> numbers = {count};
                           numbers.insert(numbers.end(), others.begin(), others.end());
                           return numbers;
                         }};
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

LowerKernel relu_kernel(CoreClass core, const OpView& view, bool small) {
  constexpr int64_t kFewest = 16;  // fewer are sooner limited one by one than called
  const graph::Tensor &in = view.in(0), &out = view.out();
  const bool wide = in.type == DataType::Int16;
  const int64_t count = element_count(out.shape);
  const bool with_simd = core == CoreClass::Dsp || core == CoreClass::Mve;
  if (core == CoreClass::Lanes || (wide && !with_simd) || !is_plain_of(in, in.type) ||
      !is_plain_of(out, in.type) || (in.type != DataType::Int8 && !wide))
    return nullptr;
  // Of another scale or zero point each result of int8 is looked up.
  if (wide && scale(in) != scale(out)) return wide_relu_kernel(core, view);
  if (scale(in) != scale(out) || zero_point(in) != zero_point(out))
    return small || (core != CoreClass::Mve && count < kWorthATable) ? nullptr
                                                                     : lookup_kernel(view);
  if (!with_simd || count < kFewest) return nullptr;
  const Range range = activation_limits(view, view.node.attrs<graph::ReluAttrs>().activation);
  return [count, range, wide](OpLowering& op) {
    op.declare({Shape{count}}, Shape{count});
    op.allow_in_place();
    return call_kernel(op.b.func(), {wide ? "intarsia_each_clamp_s16" : "intarsia_each_clamp_s8",
                                     {count, range.low, range.high},
                                     {op.in(0)},
                                     op.out(),
                                     {},
                                     {}});
  };
}

LowerKernel wide_leaky_relu_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &in = view.in(0), &out = view.out();
  if (core == CoreClass::Lanes || lacks_simd(core) || !is_plain_of(in, DataType::Int16) ||
      !is_plain_of(out, DataType::Int16))
    return nullptr;
  const double in_scale = scale(in), out_scale = scale(out);
  const double alpha = view.node.attrs<graph::LeakyReluAttrs>().alpha;
  auto numbers = prelu_numbers(view, in_scale / out_scale, in_scale * alpha / out_scale, 0);
  if (!numbers) return nullptr;
  const int64_t count = element_count(out.shape);
  numbers->insert(numbers->begin(), count);
  return [count, numbers = *numbers](OpLowering& op) {
    op.declare({Shape{count}}, Shape{count});
    op.allow_in_place();
    return call_kernel(op.b.func(),
                       {"intarsia_each_leaky_relu_s16", numbers, {op.in(0)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
