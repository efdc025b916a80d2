// Element-wise addition and subtraction of two activations of one shape.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "channels.h"
#include "kernels.h"
#include "repeats.h"

namespace intarsia::targets::cortex_m {

using namespace operators;

namespace {

// TFLite's sum of two operands, unclamped; with a sign of -1 their difference.
int64_t reference_sum(const AddRescaling& r, int64_t a, int64_t b, int64_t sign, int64_t out_zero) {
  const auto scaled = [](int64_t value, Multiplier m) {
    const int64_t high = (value * m.value + (int64_t{1} << 30)) >> 31;
    if (m.shift == 0) return high;
    return (high + (int64_t{1} << (-m.shift - 1)) - (high < 0)) >> -m.shift;
  };
  const int64_t unit = int64_t{1} << r.left_shift;
  return scaled(scaled(a * unit, r.a) + sign * scaled(b * unit, r.b), r.output) + out_zero;
}

// Numbers of device/sum.h, if there are some that hold for every pair of operands.
class OneStep {
 public:
  OneStep(const AddRescaling& r, int64_t a_zero, int64_t b_zero, int64_t sign, int64_t out_zero,
          Range range)
      : range_(range) {
    for (int64_t a = -128; a <= 127; ++a)
      for (int64_t b = -128; b <= 127; ++b)
        expected_.push_back(std::clamp<int64_t>(
            reference_sum(r, a - a_zero, b - b_zero, sign, out_zero), range.low, range.high));
  }

  // Factors near the real scales; a start that no pair rules out.
  std::optional<std::vector<int64_t>> find(double a_scale, double b_scale) const {
    const auto a_middle = static_cast<int64_t>(std::lround(a_scale * kOne));
    const auto b_middle = static_cast<int64_t>(std::lround(b_scale * kOne));
    for (int64_t i = 0; i < kTries * kTries; ++i) {
      const int64_t a_factor = a_middle + near(i % kTries), b_factor = b_middle + near(i / kTries);
      if (const std::optional<int64_t> start = start_for(a_factor, b_factor))
        return {{a_factor, b_factor, *start}};
    }
    return std::nullopt;
  }

 private:
  static constexpr int64_t kOne = int64_t{1} << 22, kTries = 7;
  static int64_t near(int64_t i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

  std::optional<int64_t> start_for(int64_t a_factor, int64_t b_factor) const {
    int64_t least = -kLimit, most = kLimit;
    size_t pair = 0;
    for (int64_t a = -128; a <= 127; ++a)
      for (int64_t b = -128; b <= 127; ++b, ++pair) {
        const int64_t sum = a * a_factor + b * b_factor, result = expected_[pair];
        if (result > range_.low) least = std::max(least, result * kOne - sum);
        if (result < range_.high) most = std::min(most, (result + 1) * kOne - 1 - sum);
        if (least > most) return std::nullopt;
      }
    const int64_t start = least + (most - least) / 2,
                  reach = 128 * (std::abs(a_factor) + std::abs(b_factor));
    if (std::abs(start) + reach >= kLimit - kOne || std::abs(b_factor) >= kLimit / 256)
      return std::nullopt;
    return start;
  }

  static constexpr int64_t kLimit = int64_t{1} << 31;
  Range range_;
  std::vector<int64_t> expected_;
};

// Calls of a kernel whose first number is the count of elements.
LowerKernel by_rows(const OpView& view, const std::string& name, std::vector<int64_t> others) {
  const size_t part = view.in(0).shape == view.out().shape ? 1 : 0;
  const auto axes = repeated_axes(view.in(part).shape, view.out().shape);
  if (!axes) return nullptr;
  others.insert(others.begin(), 0);
  const RowKernel kernel{name, [others](int64_t count) {
                           std::vector<int64_t> numbers = others;
                           numbers[0] = count;
                           return numbers;
                         }};
  return [kernel, part, axes](OpLowering& op) { return call_by_rows(op, kernel, part, *axes); };
}

}  // namespace

namespace {

LowerKernel wide_sum_kernel(CoreClass core, const OpView& view, const AddRescaling& r,
                            const Range& range) {
  constexpr int kMostShift = 30;
  if (lacks_simd(core) || r.a.shift < -kMostShift || r.b.shift < -kMostShift ||
      r.output.shift > -1 || r.output.shift < -kMostShift)
    return nullptr;
  return by_rows(view,
                 view.node.kind == graph::OpKind::Sub ? "intarsia_sub_s16" : "intarsia_add_s16",
                 {0, r.a.value, -r.a.shift, 0, r.b.value, -r.b.shift, r.output.value,
                  -r.output.shift, 0, range.low, range.high});
}

}  // namespace

bool is_sum_of_activations(const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  const auto is_plain = [&](const graph::Tensor& t) {
    return t.type == out.type && t.quantization.scale.size() == 1 && !t.constant.valid() &&
           (t.type == DataType::Int8 ||
            (t.type == DataType::Int16 && t.quantization.zero_point[0] == 0));
  };
  return is_plain(a) && is_plain(b) && is_plain(out) &&
         (a.shape == out.shape || b.shape == out.shape) &&
         view.node.inputs[0] != view.node.inputs[1];
}

LowerKernel sum_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  if (!is_sum_of_activations(view)) return nullptr;
  const std::optional<AddRescaling> r = add_rescaling(
      out.type, a.quantization.scale[0], b.quantization.scale[0], out.quantization.scale[0]);
  if (!r) return nullptr;
  const Range range = activation_range(view.node.attrs<graph::BinaryAttrs>().activation, out.type,
                                       out.quantization.scale[0], out.quantization.zero_point[0]);
  if (out.type == DataType::Int16) return wide_sum_kernel(core, view, *r, range);
  const double unit = out.quantization.scale[0];
  const int64_t sign = view.node.kind == graph::OpKind::Sub ? -1 : 1;
  const OneStep one_step(*r, a.quantization.zero_point[0], b.quantization.zero_point[0], sign,
                         out.quantization.zero_point[0], range);
  if (const auto found =
          one_step.find(a.quantization.scale[0] / unit,
                        static_cast<double>(sign) * b.quantization.scale[0] / unit)) {
    return by_rows(view, "intarsia_sum_s8",
                   {(*found)[0], (*found)[1], (*found)[2], range.low, range.high});
  }
  constexpr int kLeftShift = 20, kMostShift = 30, kMostOutShift = 22;
  if (sign < 0 || lacks_simd(core) || r->left_shift != kLeftShift || r->a.shift < -kMostShift ||
      r->b.shift < -kMostShift || r->output.shift > -1 || r->output.shift < -kMostOutShift)
    return nullptr;
  return by_rows(view, "intarsia_add_s8",
                 {a.quantization.zero_point[0], r->a.value, -r->a.shift,
                  b.quantization.zero_point[0], r->b.value, -r->b.shift, r->output.value,
                  -r->output.shift, out.quantization.zero_point[0], range.low, range.high});
}

}  // namespace intarsia::targets::cortex_m
