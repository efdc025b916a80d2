// Element-wise product of two activations: device/mul.h.
#include <algorithm>

#include "channels.h"
#include "kernels.h"
#include "repeats.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// `shape` repeats along the leading axes of `whole`, and only there.
bool repeats_by_rows(const Shape& shape, const Shape& whole) {
  if (shape.size() > whole.size()) return false;
  const size_t missing = whole.size() - shape.size();
  size_t axis = 0;
  while (axis < shape.size() && shape[axis] == 1) ++axis;
  return std::equal(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end(),
                    whole.begin() + static_cast<std::ptrdiff_t>(missing + axis));
}

// SMMLAR takes a product doubled, which is one less than it should be for the largest, of -32768 with itself.
bool holds_doubled(Multiplier m, Range range) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto result = [&](int64_t doubled) {
    const int64_t high = (doubled * m.value + (int64_t{1} << 31)) >> 32;
    return std::clamp<int64_t>((high + (int64_t{1} << (-m.shift - 1))) >> -m.shift, range.low,
                               range.high);
  };
  return result(kMost) == result(kMost - 1);
}

// Of int16, row by row.
LowerKernel wide_mul_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  const auto is_plain = [](const graph::Tensor& t) {
    return t.type == DataType::Int16 && t.quantization.scale.size() == 1 && zero_point(t) == 0;
  };
  if (lacks_simd(core) || core == CoreClass::Lanes || !is_plain(a) || !is_plain(b) ||
      !is_plain(out))
    return nullptr;
  const auto axes = repeated_axes(a.shape, b.shape, out.shape);
  const double a_scale = scale(a), b_scale = scale(b);
  const Multiplier m = quantize_multiplier(a_scale * b_scale / scale(out));
  constexpr int kMostShift = 31;
  const Range range = activation_limits(view, view.node.attrs<graph::BinaryAttrs>().activation);
  if (!axes || m.shift > -1 || m.shift < -kMostShift ||
      (core == CoreClass::Dsp && !holds_doubled(m, range)))
    return nullptr;
  const RowKernel kernel{"intarsia_each_product_s16", [m, range](int64_t count) {
                           return std::vector<int64_t>{
                               1, count, 0, 0, m.value, -m.shift, 0, range.low, range.high};
                         }};
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

}  // namespace

LowerKernel mul_kernel(CoreClass core, const OpView& view) {
  const auto is_plain = [](const graph::Tensor& t) {
    return t.type == DataType::Int8 && t.quantization.scale.size() == 1;
  };
  const graph::Tensor& out = view.out();
  if (out.type == DataType::Int16) return wide_mul_kernel(core, view);
  if (!is_plain(view.in(0)) || !is_plain(view.in(1)) || !is_plain(out) ||
      view.node.inputs[0] == view.node.inputs[1])
    return nullptr;
  const bool swapped = view.in(0).shape != out.shape;
  const size_t first = swapped ? 1 : 0, second = 1 - first;
  const graph::Tensor &a = view.in(first), &b = view.in(second);
  const double a_scale = view.in(0).quantization.scale[0],
               b_scale = view.in(1).quantization.scale[0];
  const Multiplier m = quantize_multiplier(a_scale * b_scale / out.quantization.scale[0]);
  constexpr int kMostShift = 16;
  if (m.shift > -1 || m.shift < -kMostShift) return nullptr;
  const Range range = output_range(view, view.node.attrs<graph::BinaryAttrs>().activation);
  const std::string name =
      core == CoreClass::Lanes ? "intarsia_each_lanes_product_s8" : "intarsia_each_product_s8";
  const int64_t count = element_count(b.shape), rows = element_count(out.shape) / count;
  const bool short_rows = rows > 1 && count < kLongRow;
  if (short_rows || a.shape != out.shape || !repeats_by_rows(b.shape, out.shape)) {
    const auto axes = repeated_axes(view.in(0).shape, view.in(1).shape, out.shape);
    if (!axes) return nullptr;
    const std::vector<int64_t> others = {view.in(0).quantization.zero_point[0],
                                         view.in(1).quantization.zero_point[0],
                                         m.value,
                                         -m.shift,
                                         out.quantization.zero_point[0],
                                         range.low,
                                         range.high};
    const RowKernel kernel{name, [others](int64_t count) {
                             std::vector<int64_t> numbers = {1, count};
                             numbers.insert(numbers.end(), others.begin(), others.end());
                             return numbers;
                           }};
    return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
  }
  const std::vector<int64_t> numbers = {
      rows,      count,    a.quantization.zero_point[0],   b.quantization.zero_point[0],
      m.value,   -m.shift, out.quantization.zero_point[0], range.low,
      range.high};
  return [=](OpLowering& op) {
    const Shape all{rows * count}, some{count};
    op.declare({swapped ? some : all, swapped ? all : some}, all);
    op.allow_in_place();
    return call_kernel(op.b.func(),
                       {name, numbers, {op.in(first), op.in(second)}, op.out(), {}, {}});
  };
}

}  // namespace intarsia::targets::cortex_m
