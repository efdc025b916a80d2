// Operators along the last axis: softmax, log-softmax, l2 normalisation.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/fixed_point.h"
#include "intarsia/plugin/rounded_exp.h"
#include "operators/common_types.h"
#include "operators/evaluation/straight_lines.h"
#include "operators/families.h"
#include "operators/operand_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_softmax(OpCheck& check) {
  const auto& attributes = check.node.attrs<SoftmaxAttrs>();
  const Tensor &input = check.in(0), &output = check.out();
  check.require(!input.shape.empty(), "the input is a scalar");
  check.require(std::isfinite(attributes.beta), "beta is not a finite number");
  if (!check.ok() || input.type == Float32) return {input.shape};

  if (!check.per_tensor(input, "input", input.type == Int16) || !check.per_tensor(output, "output"))
    return {input.shape};
  const auto output_is = [&](double scale, double tolerance, int64_t zero_point) {
    check.require(std::abs(scale_of(output) - scale) <= tolerance * scale &&
                      output.quantization.zero_point[0] == zero_point,
                  fmt::format("the output has to have the scale {} and the zero point {}", scale,
                              zero_point));
  };
  if (output.type == Int8) {
    output_is(1.0 / 256, 0, -128);
  } else if (input.type == Int8) {
    output_is(1.0 / 65536, 0.001, -32768);
  } else {
    output_is(1.0 / 32768, 0.001, 0);
  }
  // The sum of that many exponentials still fits into the accumulator.
  const int64_t most = input.type == Int16 ? 65535 : 4095;
  check.require(input.shape.back() <= most,
                fmt::format("the last extent is {}, fixed-point arithmetic sums at most {}",
                            input.shape.back(), most));
  const double factor = softmax_factor(input, attributes.beta);
  if (input.type == Int16) {
    check.factor(factor, kMostExponent32);
  } else {
    check.require(attributes.beta > 0, "beta is not above 0");
  }
  return {input.shape};
}

Shapes infer_log_softmax(OpCheck& check) {
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (check.ok() && check.in(0).type == Int8 && quantized(check)) {
    check.require(
        check.out().quantization.zero_point[0] == 127 && scale_of(check.out()) == 1.0 / 16,
        "the output has to have the scale 1/16 and the zero point 127");
    check.require(check.in(0).shape.back() <= 4095, "rows are longer than 4095 elements");
  }
  return {check.in(0).shape};
}

Shapes infer_l2_normalization(OpCheck& check) {
  check.require(!check.in(0).shape.empty(), "the input is a scalar");
  if (check.ok() && check.in(0).type == Int8 && quantized(check)) {
    check.require(check.out().quantization.zero_point[0] == 0 && scale_of(check.out()) == 1.0 / 128,
                  "the output has to have the scale 1/128 and the zero point 0");
    check.require(check.in(0).shape.back() <= 33025, "rows are longer than 33025 elements");
  }
  return {check.in(0).shape};
}

// Differences below this would leave Q5.26.
int32_t least_difference(const FixedFactor& factor) {
  return -static_cast<int32_t>(
      std::floor(31.0 * (1 << 26) / static_cast<double>(INT64_C(1) << factor.shift)));
}

template <typename To>
void softmax_of_int8(const Invocation& call) {
  const FixedFactor factor =
      fixed_factor(softmax_factor(call.in(), call.node.attrs<SoftmaxAttrs>().beta));
  const int32_t least = least_difference(factor);  // below it exponentials count as 0
  const int64_t depth = call.in().shape.back();
  const int8_t* row = call.data<int8_t>(0);
  To* result = call.result<To>();
  constexpr int32_t kLeast = std::numeric_limits<To>::min(), kMost = std::numeric_limits<To>::max();

  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const int32_t largest = *std::max_element(row, row + depth);
    const auto exponential = [&](int8_t value) {
      return exp_of_negative<5>(multiply(value - largest, factor));
    };
    int32_t sum = 0;
    for (int64_t c = 0; c < depth; ++c)
      if (row[c] - largest >= least) sum += rounding_shift_right(exponential(row[c]), 12);

    const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
    const auto fraction =  // the sum without its leading 1
        static_cast<int32_t>((static_cast<uint32_t>(sum) << headroom) - (UINT32_C(1) << 31));
    const int32_t scale = reciprocal_of_one_plus(fraction);
    const int shift = 12 - headroom + 31 - std::numeric_limits<std::make_unsigned_t<To>>::digits;
    for (int64_t c = 0; c < depth; ++c) {
      // Sums of 512 and more need a shift that TFLite refuses; what is left of an int8 is 0.
      const bool counts = row[c] - largest >= least && shift <= 31;
      const int32_t value =
          counts ? rounding_shift_right(doubling_high_product(scale, exponential(row[c])), shift)
                 : 0;
      result[c] = static_cast<To>(std::clamp(value + kLeast, kLeast, kMost));
    }
    row += depth;
    result += depth;
  }
}

int32_t to_int16(int32_t value) {
  return std::clamp(value, -32768, 32767);
}

void softmax_of_int16(const Invocation& call) {
  constexpr float kResultScale = 2.0f / 65535;
  static const StraightLines exponential(10.0f / 65535, 32767, kResultScale, rounded_exp);
  static const StraightLines reciprocal(1.0f / 65535, -32768, kResultScale,
                                        [](float x) { return 1.0f / (1.0f + x); });
  const FixedFactor factor =
      fixed_factor(softmax_factor(call.in(), call.node.attrs<SoftmaxAttrs>().beta));
  const int64_t depth = call.in().shape.back();
  const int16_t* row = call.data<int16_t>(0);
  int16_t* result = call.result<int16_t>();
  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const int32_t largest = *std::max_element(row, row + depth);
    int32_t sum = 0;
    for (int64_t c = 0; c < depth; ++c) {
      result[c] = exponential(to_int16(wrapping_add(multiply(row[c] - largest, factor), 32767)));
      sum = wrapping_add(sum, result[c]);
    }
    const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
    // 1 <= sum scaled < 2 as 65536 .. 131071, then minus 1, then around 0.
    const auto scaled =
        static_cast<int32_t>(((static_cast<int64_t>(sum) << (headroom - 1)) + (1 << 13)) >> 14);
    const int32_t factor_of_row = reciprocal(to_int16(scaled - (1 << 15) - (1 << 16)));
    const int shift = 31 - headroom;
    for (int64_t c = 0; c < depth; ++c) {
      const int64_t product = static_cast<int64_t>(result[c]) * factor_of_row;
      const int64_t value = (product + (INT64_C(1) << (shift - 1))) >> shift;
      result[c] = static_cast<int16_t>(std::clamp<int64_t>(value, 0, 32767));
    }
    row += depth;
    result += depth;
  }
}

void softmax_of_floats(const Invocation& call) {
  const float beta = call.node.attrs<SoftmaxAttrs>().beta;
  const int64_t depth = call.in().shape.back();
  const float* row = call.data<float>(0);
  float* result = call.result<float>();
  for (int64_t i = 0; i < element_count(call.in().shape) / depth; ++i) {
    const float largest = *std::max_element(row, row + depth);
    float sum = 0;
    for (int64_t c = 0; c < depth; ++c) sum += result[c] = std::exp((row[c] - largest) * beta);
    for (int64_t c = 0; c < depth; ++c) result[c] /= sum;
    row += depth;
    result += depth;
  }
}

Result<void> eval_softmax(const Invocation& call) {
  const DataType out = call.out().type;
  if (call.type() == Int8 && out == Int8)
    softmax_of_int8<int8_t>(call);
  else if (call.type() == Int8 && out == Int16)
    softmax_of_int8<int16_t>(call);
  else if (call.type() == Int16 && out == Int16)
    softmax_of_int16(call);
  else if (call.type() == Float32 && out == Float32)
    softmax_of_floats(call);
  else
    return unsupported_types(call);
  return {};
}

void log_softmax_of_int8(const Invocation& call) {
  const FixedFactor factor = fixed_factor(softmax_factor(call.in(), 1));
  const int32_t least = least_difference(factor);
  const int64_t depth = call.in().shape.back();
  for (int64_t start = 0; start < element_count(call.in().shape); start += depth) {
    const int8_t* row = call.data<int8_t>(0) + start;
    const int32_t largest = *std::max_element(row, row + depth);
    int32_t sum = 0;  // Q12.19
    for (int64_t c = 0; c < depth; ++c)
      if (row[c] - largest >= least)
        sum += rounding_shift_right(exp_of_negative<5>(multiply(row[c] - largest, factor)), 12);
    const int64_t log_sum = log_from_one(sum);
    for (int64_t c = 0; c < depth; ++c) {
      int64_t result = -128;  // 16 and more below the largest
      if (row[c] - largest >= least) {
        const int64_t difference = multiply(row[c] - largest, factor) - log_sum;
        if (difference > -(INT64_C(1) << 30))
          result = rounding_shift_right(static_cast<int32_t>(difference), 22) + 127;
      }
      call.result<int8_t>()[start + c] =
          static_cast<int8_t>(std::clamp<int64_t>(result, -128, 127));
    }
  }
}

Result<void> eval_log_softmax(const Invocation& call) {
  if (call.type() == Int8) return log_softmax_of_int8(call), Result<void>{};
  const int64_t depth = call.in().shape.back();
  for (int64_t row = 0; row < element_count(call.in().shape); row += depth) {
    const float* x = call.data<float>(0) + row;
    const float largest = *std::max_element(x, x + depth);
    float sum = 0;
    for (int64_t i = 0; i < depth; ++i) sum += std::exp(x[i] - largest);
    const float log_sum = std::log(sum);
    for (int64_t i = 0; i < depth; ++i) call.result<float>()[row + i] = x[i] - largest - log_sum;
  }
  return {};
}

Result<void> eval_l2_normalization(const Invocation& call) {
  const int64_t depth = call.in().shape.back();
  for (int64_t row = 0; row < element_count(call.in().shape); row += depth) {
    if (call.type() == Float32) {
      const float* x = call.data<float>(0) + row;
      float squares = 0;
      for (int64_t i = 0; i < depth; ++i) squares += x[i] * x[i];
      const float norm = std::max(std::sqrt(squares), 1e-6f);
      for (int64_t i = 0; i < depth; ++i) call.result<float>()[row + i] = x[i] / norm;
    } else {
      const int8_t* x = call.data<int8_t>(0) + row;
      const auto zero = static_cast<int32_t>(call.in_zero_point());
      int32_t squares = 0;
      for (int64_t i = 0; i < depth; ++i)
        squares = wrapping_add(squares, (x[i] - zero) * (x[i] - zero));
      FixedFactor factor = inverse_square_root(squares);
      factor.shift += 7;
      for (int64_t i = 0; i < depth; ++i)
        call.result<int8_t>()[row + i] =
            static_cast<int8_t>(std::clamp(multiply(x[i] - zero, factor), -128, 127));
    }
  }
  return {};
}

// The sum of exponentials has 12 integer bits.
constexpr int64_t kMaxRow = 4095;

std::optional<SoftmaxScaling> scaling(const OpView& v) {
  return softmax_scaling(v.in(0).quantization.scale[0], v.node.attrs<SoftmaxAttrs>().beta);
}

double wide_factor(const OpView& v) {
  return graph::wide_softmax_factor(static_cast<double>(v.in(0).quantization.scale[0]),
                                    static_cast<double>(v.node.attrs<SoftmaxAttrs>().beta));
}

Refusal refuses_log_softmax(const OpView& view) {
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  if (is_integer(view.out().type) && view.in(0).shape.back() > kMaxRow)
    return "rows are longer than 4095 elements";
  return std::nullopt;
}

Refusal refuses_softmax(const OpView& view) {
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  if (!is_integer(view.out().type)) return std::nullopt;
  if (view.in(0).type == Int16) return std::nullopt;
  const Quantization& out = view.out().quantization;
  if (view.out().type == Int8 && (out.zero_point[0] != -128 || out.scale[0] != 1.0f / 256.0f)) {
    return "the output's quantisation is not scale 1/256, zero point -128";
  }
  if (view.in(0).shape.back() > kMaxRow) return "rows are longer than 4095 elements";
  if (!scaling(view)) return "beta is not above 0";
  return std::nullopt;
}

Stmt lower_softmax(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const int64_t count = v.in(0).shape.back();
  const int64_t rows = element_count(v.in(0).shape) / count;
  op.declare({Shape{rows, count}}, {rows, count});
  return b.loop("row", rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    std::vector<std::variant<tir::BufferRun, Expr>> operands{
        tir::BufferRun{op.in(0), start, count, tir::Access::Read},
        tir::BufferRun{op.out(), start, count, tir::Access::Write}, tir::int_imm(count)};
    if (!is_integer(v.out().type)) {
      operands.emplace_back(tir::float_imm(v.node.attrs<SoftmaxAttrs>().beta));
      return tir::intrinsic("intarsia_softmax_f32", std::move(operands));
    }
    if (v.in(0).type == DataType::Int16) {
      const Multiplier m = quantize_multiplier(wide_factor(v));
      operands.emplace_back(tir::int_imm(m.value));
      operands.emplace_back(tir::int_imm(m.shift));
      return tir::intrinsic("intarsia_softmax_s16", std::move(operands));
    }
    const SoftmaxScaling s = *scaling(v);
    operands.emplace_back(tir::int_imm(s.multiplier.value));
    operands.emplace_back(tir::int_imm(s.multiplier.shift));
    operands.emplace_back(tir::int_imm(s.diff_min));
    const bool wide = v.out().type == DataType::Int16;
    return tir::intrinsic(wide ? "intarsia_softmax_s8_s16" : "intarsia_softmax_s8",
                          std::move(operands));
  });
}

Stmt by_rows(OpLowering& op, const char* helper, const std::vector<Expr>& more) {
  const int64_t count = op.view.in(0).shape.back();
  const int64_t rows = element_count(op.view.in(0).shape) / count;
  op.declare({Shape{rows, count}}, {rows, count});
  return op.b.loop("row", rows, [&](const Expr& row) {
    const std::vector<Expr> start{row, tir::int_imm(0)};
    std::vector<std::variant<tir::BufferRun, Expr>> operands{
        tir::BufferRun{op.in(0), start, count, tir::Access::Read},
        tir::BufferRun{op.out(), start, count, tir::Access::Write}, tir::int_imm(count)};
    for (const Expr& value : more) operands.emplace_back(value);
    return tir::intrinsic(helper, std::move(operands));
  });
}

Stmt lower_log_softmax(OpLowering& op) {
  if (!is_integer(op.view.out().type)) return by_rows(op, "intarsia_log_softmax_f32", {});
  const std::optional<SoftmaxScaling> s = softmax_scaling(op.view.in(0).quantization.scale[0], 1);
  INTARSIA_CHECK(s.has_value(), "a scale is above 0");
  return by_rows(op, "intarsia_log_softmax_s8",
                 {tir::int_imm(s->multiplier.value), tir::int_imm(s->multiplier.shift),
                  tir::int_imm(s->diff_min)});
}

Stmt lower_l2_normalization(OpLowering& op) {
  if (!is_integer(op.view.out().type)) return by_rows(op, "intarsia_l2_normalize_f32", {});
  return by_rows(op, "intarsia_l2_normalize_s8",
                 {tir::int_imm(op.view.in(0).quantization.zero_point[0])});
}

constexpr TypeRule kSoftmaxTypes[] = {
    {Int8, Int8}, {Int8, Int16}, {Int16, Int16}, {Float32, Float32}};

constexpr Operator kNormalizationOperators[] = {
    {.kind = OpKind::Softmax,
     .types = kSoftmaxTypes,
     .infer = infer_softmax,
     .evaluate = eval_softmax,
     .lower = lower_softmax,
     .refuses = refuses_softmax},
    {.kind = OpKind::LogSoftmax,
     .types = kInt8OrReal,
     .infer = infer_log_softmax,
     .evaluate = eval_log_softmax,
     .lower = lower_log_softmax,
     .refuses = refuses_log_softmax},
    {.kind = OpKind::L2Normalization,
     .types = kInt8OrReal,
     .infer = infer_l2_normalization,
     .evaluate = eval_l2_normalization,
     .lower = lower_l2_normalization,
     .refuses = refuses_quantization},
};

}  // namespace

std::span<const Operator> normalization_operators() {
  return kNormalizationOperators;
}

}  // namespace intarsia::operators
