#include "legalise/softmax_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "intarsia/plugin/rounding.h"
#include "legalise/wide.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

// 48/17 and -32/17 in Q2.29, where the approximation of 1 / half begins, and 1.
constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540, kOne = 1 << 29;
constexpr int kNewtonSteps = 3;

// e^x in Q0.31 for x <= 0 in Q5.26: a polynomial around -1/8 for the part in (-1/4, 0], then one
// factor for each binary digit above.
int32_t exponential(int32_t x) {
  if (x == 0) return std::numeric_limits<int32_t>::max();
  constexpr int32_t kQuarter = 1 << 24, kExpOfMinusEighth = 1895147668, kThird = 715827883;
  constexpr std::array<int32_t, 7> kExpOfMinusPowers = {
      1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  const int32_t part = (x & (kQuarter - 1)) - kQuarter;
  const int32_t y = part * 32 + (1 << 28);
  const int32_t y2 = high_product(y, y), y3 = high_product(y2, y), y4 = high_product(y2, y2);
  const int32_t cubic = high_product(rounding_shift_right(y4, 2) + y3, kThird) + y2;
  int32_t result =
      kExpOfMinusEighth + high_product(kExpOfMinusEighth, y + rounding_shift_right(cubic, 1));
  const int64_t rest = int64_t{part} - x;
  for (size_t i = 0; i < kExpOfMinusPowers.size(); ++i)
    if ((rest >> (24 + i) & 1) != 0) result = high_product(result, kExpOfMinusPowers[i]);
  return result;
}

}  // namespace

int32_t high_product(int32_t a, int32_t b) {
  return multiply(a, {b, 0});
}

SoftmaxDifferences softmax_differences(double steps) {
  const double units = std::ldexp(1.0, 31 - kScaledDiffIntegerBits);
  // TFLite's fixed point takes factors above 1; below, all exponentials are 1.
  const FixedFactor factor =
      fixed_factor(std::clamp(steps * units, 1 + 0x1p-20, std::ldexp(1.0, 31) - 1.0));
  const double most = std::ldexp((1 << kScaledDiffIntegerBits) - 1, 31 - kScaledDiffIntegerBits);
  return {factor, -static_cast<int64_t>(std::floor(std::ldexp(most, -factor.exponent)))};
}

std::vector<int32_t> softmax_exponentials(const SoftmaxDifferences& differences) {
  std::vector<int32_t> values;
  for (int32_t difference = -255; difference <= 0; ++difference)
    values.push_back(
        difference < differences.least ? 0 : exponential(multiply(difference, differences.factor)));
  return values;
}

int32_t reciprocal_of(int32_t half) {
  int32_t x = high_product(half, kMinus32Over17) + k48Over17;
  for (int step = 0; step < kNewtonSteps; ++step)
    x += 4 * high_product(x, kOne - high_product(x, half));
  return static_cast<int32_t>(
      std::min<int64_t>(2 * int64_t{x}, std::numeric_limits<int32_t>::max()));
}

// From 48/17 - 32/17 * half on.
Operand emit_reciprocals(Builder& builder, const Operand& half) {
  const auto high = [&](const Operand& a, const Operand& b) {
    return wide(builder, Mul, a, b, 31);
  };
  Operand x = wide(builder, Add, high(half, wide_constant(builder, kMinus32Over17)),
                   wide_constant(builder, k48Over17));
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Operand error = wide_difference(builder, kOne, high(x, half));
    const Operand correction = wide(builder, Mul, high(x, error), wide_constant(builder, 4));
    x = wide(builder, Add, x, correction);
  }
  return x;
}

Extent extent_of_rows(int32_t rows, int32_t depth) {
  return rows % 2 == 0 ? Extent{2, rows / 2, depth} : Extent{1, rows, depth};
}

Operand emit_largest(Builder& builder, const Operand& in) {
  const Extent& all = in.extent;
  const int32_t rows = all.height * all.width;
  const Operand largest = builder.inner("largest", builder.type_of(in), {rows, 1, 1});
  Operation max = builder.start(MaxPool, builder.reshaped(in, {rows, all.depth, 1}), largest);
  max.ifm.zero_point = 0;
  max.kernel.width = all.depth;
  builder.emit(std::move(max));
  return builder.reshaped(largest, one_of_each_row(all));
}

Operand look_up_below(Builder& builder, const char* name, const Operand& in, const Operand& largest,
                      int32_t table) {
  // The difference, at most 0, indexes the table from its end: with the zero point 127 it is an
  // int8.
  Operand words = builder.inner(name, DataType::Int32, in.extent, 127);
  Operation subtract = builder.start(Sub, in, words);
  subtract.ifm.zero_point = 0;
  subtract.ifm2 = largest;
  subtract.ifm2_type = DataType::Int8;
  subtract.ifm_scale = subtract.ifm2_scale = ChannelScale{.multiplier = 1};
  subtract.global_scale = ChannelScale{.multiplier = 1};
  look_up_wide(subtract, table);
  builder.emit(std::move(subtract));
  words.zero_point = 0;
  return words;
}

void emit_in_bands_of_rows(Builder& builder, const graph::Node& node,
                           const std::function<void(const Operand& in, const Operand& out)>& emit) {
  constexpr int32_t kBands = 8, kLeastRows = 256, kLeastElements = 1024;
  const Shape& shape = builder.tensor(node.inputs.at(0)).shape;
  const auto depth = static_cast<int32_t>(shape.back());
  const auto rows = static_cast<int32_t>(element_count(shape) / depth);
  const Extent all = {rows, 1, depth};
  const Operand in = builder.read_as(node.inputs.at(0), all),
                out = builder.write_as(node.outputs.at(0), all);
  const auto even = [](int32_t count) { return std::max(round_up(count, 2), 2); };
  const int32_t whole = std::min(std::max(even(ceil_div(rows, kBands)), kLeastRows), rows);
  // Of as many elements as take longer than the commands that each band has for its rows.
  const auto at_a_time = static_cast<int32_t>(
      builder.in_band(whole, std::max(even(whole / kNarrower), even(kLeastElements / depth))));
  for (int32_t first = 0; first < rows; first += at_a_time) {
    const int32_t count = std::min(at_a_time, rows - first);
    const auto band = [&](const Operand& of) {
      const Operand part = box(of, {first, 0, 0}, {count, 1, depth});
      return builder.reshaped(part, extent_of_rows(count, depth));
    };
    emit(band(in), band(out));
  }
}

}  // namespace intarsia::targets::ethos_u
