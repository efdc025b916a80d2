// Element-wise addition and subtraction of two activations of one shape.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

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

// Factors and a start that give (a * a_factor + b * b_factor + start) >> bits, if there are some that hold for every pair of operands,
// of a constant for those values that it has.
struct Step {
  int64_t a_factor, b_factor, start;
  int bits;
};

class OneStep {
 public:
  OneStep(const OpView& view, const AddRescaling& r, int64_t sign, Range range)
      : range_(range), a_values_(values_of(view, 0)), b_values_(values_of(view, 1)) {
    const int64_t a_zero = zero_point(view.in(0)), b_zero = zero_point(view.in(1)),
                  out_zero = zero_point(view.out());
    for (const int64_t a : a_values_)
      for (const int64_t b : b_values_)
        expected_.push_back(std::clamp<int64_t>(
            reference_sum(r, a - a_zero, b - b_zero, sign, out_zero), range.low, range.high));
  }

  // Factors near the real scales; a start that no pair rules out.
  std::optional<Step> find(double a_scale, double b_scale, int bits) const {
    const int64_t one = int64_t{1} << bits;
    const auto a_middle = std::llround(a_scale * static_cast<double>(one));
    const auto b_middle = std::llround(b_scale * static_cast<double>(one));
    for (int64_t i = 0; i < kTries * kTries; ++i) {
      const int64_t a_factor = a_middle + near(i % kTries), b_factor = b_middle + near(i / kTries);
      if (const std::optional<int64_t> start = start_for(a_factor, b_factor, one))
        return Step{a_factor, b_factor, *start, bits};
    }
    return std::nullopt;
  }

 private:
  static constexpr int64_t kTries = 7;
  static int64_t near(int64_t i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; }

  std::optional<int64_t> start_for(int64_t a_factor, int64_t b_factor, int64_t one) const {
    int64_t most = std::max(one << 9, int64_t{1} << 31), least = -most;
    size_t pair = 0;
    for (const int64_t a : a_values_)
      for (const int64_t b : b_values_) {
        const int64_t sum = a * a_factor + b * b_factor, result = expected_[pair++];
        if (result > range_.low) least = std::max(least, result * one - sum);
        if (result < range_.high) most = std::min(most, (result + 1) * one - 1 - sum);
        if (least > most) return std::nullopt;
      }
    return least + (most - least) / 2;
  }

  // Those that an operand has: all of int8, or a constant's.
  static std::vector<int64_t> values_of(const OpView& view, size_t input) {
    if (view.is_constant(input)) {
      const std::vector<int64_t> all = view.values(input);
      const std::set<int64_t> values(all.begin(), all.end());
      return {values.begin(), values.end()};
    }
    std::vector<int64_t> values;
    for (int64_t value = -128; value <= 127; ++value) values.push_back(value);
    return values;
  }

  Range range_;
  std::vector<int64_t> a_values_, b_values_;
  std::vector<int64_t> expected_;
};

// Calls of a kernel whose first number is the count of elements.
LowerKernel by_rows(CoreClass core, const OpView& view, const std::string& name,
                    std::vector<int64_t> others) {
  const auto axes = repeated_axes(view.in(0).shape, view.in(1).shape, view.out().shape);
  if (!axes) return nullptr;
  others.insert(others.begin(), 0);
  const RowKernel kernel{name, [others](int64_t count) {
                           std::vector<int64_t> numbers = others;
                           numbers[0] = count;
                           return numbers;
                         }};
  return [=](OpLowering& op) { return call_by_rows(core, op, kernel, *axes); };
}

}  // namespace

namespace {

LowerKernel wide_sum_kernel(CoreClass core, const OpView& view, const AddRescaling& r,
                            const Range& range) {
  constexpr int kMostShift = 30;
  if (lacks_simd(core) || core == CoreClass::Lanes || r.a.shift < -kMostShift ||
      r.b.shift < -kMostShift || r.output.shift > -1 || r.output.shift < -kMostShift)
    return nullptr;
  return by_rows(
      core, view,
      view.node.kind == graph::OpKind::Sub ? "intarsia_each_sub_s16" : "intarsia_each_add_s16",
      {0, r.a.value, -r.a.shift, 0, r.b.value, -r.b.shift, r.output.value, -r.output.shift, 0,
       range.low, range.high});
}

// Of device/sum.h: no sum leaves 32 bits.
bool fits_words(const Step& step) {
  constexpr int64_t kLimit = int64_t{1} << 31;
  const int64_t reach = 128 * (std::abs(step.a_factor) + std::abs(step.b_factor));
  return std::abs(step.start) + reach < kLimit - (int64_t{1} << step.bits) &&
         std::abs(step.b_factor) < kLimit / 256;
}

// With as many bits behind the point as leave room for the sums.
std::optional<Step> step_of_words(const OneStep& one_step, double a_scale, double b_scale) {
  constexpr int kMostBits = 22, kFewestBits = 16;
  for (int bits = kMostBits; bits >= kFewestBits; --bits) {
    if (128 * (a_scale + std::abs(b_scale)) * std::ldexp(1.0, bits) >= std::ldexp(1.0, 31))
      continue;
    const std::optional<Step> step = one_step.find(a_scale, b_scale, bits);
    if (!step || fits_words(*step)) return step;
  }
  return std::nullopt;
}

// Of device/lanes_elements.h: as many bits as leave both factors below 2^30 with some tries beside them.
constexpr int kPartBits = 15;
int lane_bits(const OpView& view) {
  const double most = std::max(view.in(0).quantization.scale[0], view.in(1).quantization.scale[0]) /
                      static_cast<double>(view.out().quantization.scale[0]);
  int bits = 29;
  while (bits > kPartBits && most * std::ldexp(1.0, bits) > std::ldexp(1.0, 30) - 16) --bits;
  return bits;
}

LowerKernel lane_sum(const OpView& view, const Step& step, const Range& range) {
  constexpr int64_t kPart = int64_t{1} << kPartBits, kLimit = int64_t{1} << 30;
  const int64_t upper_start = step.start >> kPartBits;
  if (std::max(std::abs(step.a_factor), std::abs(step.b_factor)) >= kLimit ||
      std::abs(upper_start) >= kLimit)
    return nullptr;
  const auto words = [](int64_t a, int64_t b) {  // a's in the lower half
    return int64_t{static_cast<int32_t>(static_cast<uint32_t>(a & 0xffff) |
                                        static_cast<uint32_t>(b & 0xffff) << 16)};
  };
  return by_rows(CoreClass::Lanes, view, "intarsia_each_lanes_sum_s8",
                 {words(step.a_factor >> kPartBits, step.b_factor >> kPartBits),
                  words(step.a_factor & (kPart - 1), step.b_factor & (kPart - 1)), upper_start,
                  step.start & (kPart - 1), step.bits - kPartBits, range.low, range.high});
}

// Of activations, or of one and a constant.
bool is_plain_sum(const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  const auto is_plain = [&](const graph::Tensor& t) {
    return t.type == out.type && t.quantization.scale.size() == 1 &&
           (t.type == DataType::Int8 ||
            (t.type == DataType::Int16 && t.quantization.zero_point[0] == 0));
  };
  return is_plain(a) && is_plain(b) && is_plain(out) && view.node.inputs[0] != view.node.inputs[1];
}

}  // namespace

LowerKernel sum_kernel(CoreClass core, const OpView& view) {
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  if (!is_plain_sum(view)) return nullptr;
  const std::optional<AddRescaling> r = add_rescaling(
      out.type, a.quantization.scale[0], b.quantization.scale[0], out.quantization.scale[0]);
  if (!r) return nullptr;
  const Range range = activation_range(view.node.attrs<graph::BinaryAttrs>().activation, out.type,
                                       out.quantization.scale[0], out.quantization.zero_point[0]);
  if (out.type == DataType::Int16) return wide_sum_kernel(core, view, *r, range);
  const int64_t sign = view.node.kind == graph::OpKind::Sub ? -1 : 1;
  const OneStep one_step(view, *r, sign, range);
  const double unit = out.quantization.scale[0], a_scale = a.quantization.scale[0] / unit,
               b_scale = static_cast<double>(sign) * b.quantization.scale[0] / unit;
  if (core == CoreClass::Lanes) {
    if (const auto step = one_step.find(a_scale, b_scale, lane_bits(view)))
      if (LowerKernel kernel = lane_sum(view, *step, range)) return kernel;
  } else if (const auto step = step_of_words(one_step, a_scale, b_scale)) {
    return by_rows(
        core, view, "intarsia_each_sum_s8",
        {step->a_factor, step->b_factor, step->start, step->bits, range.low, range.high});
  }
  constexpr int kLeftShift = 20, kMostShift = 30, kMostOutShift = 22;
  if (sign < 0 || lacks_simd(core) || r->left_shift != kLeftShift || r->a.shift < -kMostShift ||
      r->b.shift < -kMostShift || r->output.shift > -1 || r->output.shift < -kMostOutShift)
    return nullptr;
  return by_rows(core, view,
                 core == CoreClass::Lanes ? "intarsia_each_lanes_add_s8" : "intarsia_each_add_s8",
                 {a.quantization.zero_point[0], r->a.value, -r->a.shift,
                  b.quantization.zero_point[0], r->b.value, -r->b.shift, r->output.value,
                  -r->output.shift, out.quantization.zero_point[0], range.low, range.high});
}

LowerKernel squared_difference_kernel(CoreClass core, const OpView& view) {
  if (core == CoreClass::Lanes || !is_plain_sum(view)) return nullptr;
  const graph::Tensor &a = view.in(0), &b = view.in(1), &out = view.out();
  const auto r = squared_difference_rescaling(out.type, scale(a), scale(b), scale(out));
  constexpr int kMostShift = 31;
  if (!r || r->a.shift < -kMostShift || r->b.shift < -kMostShift || r->output.shift > 0 ||
      r->output.shift < -kMostShift)
    return nullptr;
  // The operand of the larger scale is halved, which the kernels for Helium count on.
  const auto is_half = [](Multiplier m) { return m.value == 1 << 30 && m.shift == 0; };
  if (core == CoreClass::Mve && !is_half(r->a) && !is_half(r->b)) return nullptr;
  const Range range = type_range(out.type);
  return by_rows(core, view,
                 out.type == DataType::Int16 ? "intarsia_each_squared_difference_s16"
                                             : "intarsia_each_squared_difference_s8",
                 {zero_point(a), r->a.value, -r->a.shift, zero_point(b), r->b.value, -r->b.shift,
                  r->output.value, -r->output.shift, zero_point(out), range.low, range.high});
}

}  // namespace intarsia::targets::cortex_m
