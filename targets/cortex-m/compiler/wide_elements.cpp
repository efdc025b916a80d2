// Functions of one int16: device/pool_softmax.h.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "intarsia/plugin/every_result.h"
#include "intarsia/plugin/quantization.h"
#include "kernels.h"
#include "repeats.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

bool is_wide_function(CoreClass core, const OpView& view) {
  return !lacks_simd(core) && core != CoreClass::Lanes && view.in(0).type == DataType::Int16 &&
         view.out().type == DataType::Int16 && zero_point(view.in(0)) == 0 &&
         zero_point(view.out()) == 0;
}

LowerKernel call_for_elements(const OpView& view, const std::string& kernel,
                              std::vector<int64_t> numbers) {
  const int64_t count = element_count(view.out().shape);
  numbers.insert(numbers.begin(), count);
  return [count, kernel, numbers = std::move(numbers)](OpLowering& op) {
    op.declare({Shape{count}}, Shape{count});
    if (op.view.in(0).type == op.view.out().type) op.allow_in_place();
    return call_kernel(op.b.func(), {kernel, numbers, {op.in(0)}, op.out(), {}, {}});
  };
}

// As the kernel divides, where it does not have the core divide.
float by_reciprocal(float value, float divisor) {
  const float reciprocal = 1 / divisor, quotient = value * reciprocal;
  return std::fma(std::fma(-quotient, divisor, value), reciprocal, quotient);
}

int16_t hard_swish_by_reciprocals(int32_t argument, float in_scale, float out_scale) {
  const float x = static_cast<float>(argument) * in_scale;
  const float gate = std::min(6.0f, std::max(0.0f, x + 3));
  const float steps = std::round(by_reciprocal(by_reciprocal(x * gate, 6), out_scale));
  return static_cast<int16_t>(std::clamp(steps, -32768.0f, 32767.0f));
}

}  // namespace

LowerKernel rescale_kernel(CoreClass core, const OpView& view) {
  const DataType from = view.in(0).type, to = view.out().type;
  const auto is_integer = [](DataType type) {
    return type == DataType::Int8 || type == DataType::Int16;
  };
  if (lacks_simd(core) || core == CoreClass::Lanes || !is_integer(from) || !is_integer(to) ||
      (from == DataType::Int8 && to == DataType::Int8))
    return nullptr;
  const double in_scale = scale(view.in(0)), out_scale = scale(view.out());
  const Multiplier m = quantize_multiplier(in_scale / out_scale);
  const int64_t in_zero = zero_point(view.in(0)), out_zero = zero_point(view.out());
  const bool is_plain = is_wide_function(core, view);
  // Doubled, the largest difference that is shifted is at most 2^31, which only the least has.
  const int most_left = is_plain ? 15 : from == DataType::Int8 ? 21 : 13;
  constexpr int kMostRight = 31;
  if (m.shift > most_left || m.shift < -kMostRight) return nullptr;
  std::vector<int64_t> numbers{m.value, std::max(m.shift, 0), std::max(-m.shift, 0)};
  if (is_plain) return call_for_elements(view, "intarsia_each_rescale_s16", std::move(numbers));
  numbers.insert(numbers.end(), {in_zero, out_zero});
  const std::string kernel = from == to               ? "intarsia_each_requantize_s16"
                             : from == DataType::Int8 ? "intarsia_each_requantize_s8_s16"
                                                      : "intarsia_each_requantize_s16_s8";
  return call_for_elements(view, kernel, std::move(numbers));
}

LowerKernel wide_relu_kernel(CoreClass core, const OpView& view) {
  if (!is_wide_function(core, view)) return nullptr;
  const double in_scale = scale(view.in(0)), out_scale = scale(view.out());
  const Multiplier m = quantize_multiplier(in_scale / out_scale);
  constexpr int kMostLeft = 15, kMostRight = 31;
  if (m.shift > kMostLeft || m.shift < -kMostRight) return nullptr;
  const Range range = activation_limits(view, view.node.attrs<graph::ReluAttrs>().activation);
  return call_for_elements(
      view, "intarsia_each_relu_s16",
      {m.value, std::max(m.shift, 0), std::max(-m.shift, 0), range.low, range.high});
}

LowerKernel float_curve_kernel(CoreClass core, const OpView& view) {
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || view.in(0).type != DataType::Float32 ||
      view.out().type != DataType::Float32)
    return nullptr;
  const graph::OpKind kind = view.node.kind;
  const bool by_tanh =
      kind == graph::OpKind::Gelu && view.node.attrs<graph::GeluAttrs>().approximate;
  // Without vectors the error function has one of two series, and no kernel is faster than its call.
  if (kind == graph::OpKind::Gelu && !by_tanh && core == CoreClass::Dsp) return nullptr;
  return call_for_elements(view,
                           kind == graph::OpKind::Exp         ? "intarsia_each_exp_f32"
                           : kind == graph::OpKind::Elu       ? "intarsia_each_elu_f32"
                           : by_tanh                          ? "intarsia_each_gelu_tanh_f32"
                           : kind == graph::OpKind::Gelu      ? "intarsia_each_gelu_f32"
                           : kind == graph::OpKind::Logistic  ? "intarsia_each_logistic_f32"
                           : kind == graph::OpKind::HardSwish ? "intarsia_each_hard_swish_f32"
                                                              : "intarsia_each_tanh_f32",
                           {});
}

LowerKernel float_steps_kernel(CoreClass core, const OpView& view) {
  if (lacks_simd(core) || core == CoreClass::Lanes) return nullptr;
  const bool to_steps = view.node.kind == graph::OpKind::Quantize;
  const graph::Tensor &real = to_steps ? view.in(0) : view.out(),
                      &steps = to_steps ? view.out() : view.in(0);
  const bool bytes = steps.type == DataType::Int8;
  if (real.type != DataType::Float32 || (!bytes && steps.type != DataType::Int16)) return nullptr;
  // So that nothing between is near what vectors take for zero.
  constexpr float kLeast = 0x1p-40f, kMost = 0x1p40f;
  const float scale = steps.quantization.scale[0];
  if (!(scale >= kLeast && scale <= kMost)) return nullptr;
  const int64_t count = element_count(view.out().shape);
  const std::string kernel = to_steps
                                 ? bytes ? "intarsia_quantize_f32_s8" : "intarsia_quantize_f32_s16"
                             : bytes ? "intarsia_dequantize_s8_f32"
                                     : "intarsia_dequantize_s16_f32";
  std::vector<int64_t> numbers{count, std::bit_cast<int32_t>(scale)};
  if (to_steps) numbers.push_back(std::bit_cast<int32_t>(1 / scale));
  numbers.push_back(zero_point(steps));
  return [count, kernel, numbers](OpLowering& op) {
    op.declare({Shape{count}}, Shape{count});
    return call_kernel(op.b.func(), {kernel, numbers, {op.in(0)}, op.out(), {}, {}});
  };
}

LowerKernel float_binary_kernel(CoreClass core, const OpView& view) {
  constexpr int64_t kFewest = 16;  // fewer are sooner done than called
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  if ((core != CoreClass::Dsp && core != CoreClass::Mve) || a.type != DataType::Float32 ||
      b.type != DataType::Float32 || view.node.inputs[0] == view.node.inputs[1] ||
      element_count(out.shape) < kFewest)
    return nullptr;
  const auto axes = repeated_axes(a.shape, b.shape, out.shape);
  if (!axes) return nullptr;
  const FloatRange range = activation_range(view.node.attrs<graph::BinaryAttrs>().activation);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const int64_t low = std::bit_cast<int32_t>(range.low.value_or(-kInfinity)),
                high = std::bit_cast<int32_t>(range.high.value_or(kInfinity));
  const graph::OpKind kind = view.node.kind;
  const RowKernel kernel{kind == graph::OpKind::Add   ? "intarsia_each_sum_f32"
                         : kind == graph::OpKind::Sub ? "intarsia_each_difference_f32"
                                                      : "intarsia_each_product_f32",
                         [low, high](int64_t count) {
                           return std::vector<int64_t>{count, low, high};
                         }};
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

LowerKernel hard_swish_kernel(CoreClass core, const OpView& view) {
  if (!is_wide_function(core, view)) return nullptr;
  const float in_scale = view.in(0).quantization.scale[0],
              out_scale = view.out().quantization.scale[0];
  // Far from numbers that vectors take for zero.
  constexpr float kLeast = 0x1p-24f, kMost = 0x1p8f;
  if (in_scale < kLeast || in_scale > kMost || out_scale < kLeast || out_scale > kMost)
    return nullptr;
  const std::vector<uint8_t> bytes = results_of_every_int16(view);
  for (int32_t argument = -32768; argument <= 32767; ++argument) {
    int16_t expected = 0;
    std::memcpy(&expected, &bytes[2 * static_cast<size_t>(argument + 32768)], sizeof expected);
    if (hard_swish_by_reciprocals(argument, in_scale, out_scale) != expected) return nullptr;
  }
  const auto bits_of = [](float number) { return int64_t{std::bit_cast<int32_t>(number)}; };
  return call_for_elements(view, "intarsia_each_hard_swish_s16",
                           {bits_of(in_scale), bits_of(out_scale), bits_of(1 / out_scale)});
}

}  // namespace intarsia::targets::cortex_m
