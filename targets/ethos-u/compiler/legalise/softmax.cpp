// Softmax. Of int8 in gemmlowp's fixed point, step by step as TFLM computes it: exponentials from a
// table of 256 words (Q0.31), their sum in Q12.19, its reciprocal by three steps of Newton and
// Raphson. Results of two elements depend on their difference alone: a table.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/softmax_int16.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using enum OperationKind;

constexpr int kScaledDiffIntegerBits = 5;     // differences in Q5.26
constexpr int kAccumulationIntegerBits = 12;  // the sum in Q12.19

constexpr int64_t kMostSoftmaxDepth = 4095;  // sums below 2^12, as kAccumulationIntegerBits has
constexpr int32_t kMostUnsplitDepth = 511;   // sums below 2^28

// 48/17 and -32/17 in Q2.29, where the approximation of 1 / half begins, and 1.
constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540, kOne = 1 << 29;
constexpr int kNewtonSteps = 3;

// Fixed-point values as the host computes them for the table.
int32_t high_product(int32_t a, int32_t b) {
  return multiply(a, {b, 0});
}

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

FixedFactor difference_factor(const Site& site) {
  const double beta = static_cast<double>(site.node.attrs<graph::SoftmaxAttrs>().beta);
  const double units = std::ldexp(1.0, 31 - kScaledDiffIntegerBits);
  // TFLite's fixed point takes factors above 1; below, all exponentials are 1.
  return fixed_factor(
      std::clamp(beta * scale_of(site.in()) * units, 1 + 0x1p-20, std::ldexp(1.0, 31) - 1.0));
}

// Entry i is e^(scale * (i - 255)): differences to the largest element.
LookUpTable exponentials(const Site& site) {
  const FixedFactor factor = difference_factor(site);
  const double most = std::ldexp((1 << kScaledDiffIntegerBits) - 1, 31 - kScaledDiffIntegerBits);
  const auto least = -static_cast<int64_t>(std::floor(std::ldexp(most, -factor.exponent)));
  LookUpTable table{fmt::format("{}_exp", site.node.name), {}};
  for (int32_t difference = -255; difference <= 0; ++difference) {
    const int32_t value = difference < least ? 0 : exponential(multiply(difference, factor));
    for (int byte = 0; byte < 4; ++byte)
      table.bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(value) >> (8 * byte)));
  }
  return table;
}

int32_t entry(const LookUpTable& table, size_t index) {
  uint32_t value = 0;
  for (size_t byte = 0; byte < 4; ++byte)
    value |= uint32_t{table.bytes[4 * index + byte]} << (8 * byte);
  return static_cast<int32_t>(value);
}

// Whether exp * 2x may be made in one product, without 2x = 2^31 becoming 2^31 - 1 on the way: the
// sum is a power of two then, and every value of the table must come out the same.
bool doubling_may_wait(const LookUpTable& table) {
  for (size_t i = 0; i < table.bytes.size() / 4; ++i) {
    const int32_t value = entry(table, i);
    const int32_t saturated = high_product(value, std::numeric_limits<int32_t>::max());
    // Sums from one exponential of 1 (2^19) up to 511 of them; of more nothing is left of a result.
    for (int sum = 19; sum < 28; ++sum) {
      const int shift = kAccumulationIntegerBits + 31 - 8 - (31 - sum);
      if (rounding_shift_right(value, shift) != rounding_shift_right(saturated, shift))
        return false;
    }
  }
  return true;
}

// 1 / half in Q0.31, for 1/2 <= half <= 1 in Q0.31: what the commands below compute.
int32_t reciprocal(int32_t half) {
  int32_t x = high_product(half, kMinus32Over17) + k48Over17;
  for (int step = 0; step < kNewtonSteps; ++step)
    x += 4 * high_product(x, kOne - high_product(x, half));
  return static_cast<int32_t>(
      std::min<int64_t>(2 * int64_t{x}, std::numeric_limits<int32_t>::max()));
}

// Of two elements, the result of one that is `difference` above the other.
int8_t result_of_pair(const LookUpTable& exponentials, int32_t difference) {
  const auto exponential_of = [&](int32_t d) {
    return entry(exponentials, static_cast<size_t>(255 + std::min(d, 0)));
  };
  const int32_t own = exponential_of(difference);
  const int32_t sum = rounding_shift_right(own, kAccumulationIntegerBits) +
                      rounding_shift_right(exponential_of(-difference), kAccumulationIntegerBits);
  const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
  const int32_t value = rounding_shift_right(high_product(own, reciprocal(sum << (headroom - 1))),
                                             kAccumulationIntegerBits - headroom + 31 - 8);
  return static_cast<int8_t>(std::min(value - 128, 127));
}

// The results of pairs by their difference, each less the other. As an int8 it ends at -128 and 127: nothing
// where results still differ beyond.
std::optional<std::vector<uint8_t>> results_of_pairs(const LookUpTable& exponentials) {
  std::vector<uint8_t> results;
  for (int32_t difference = -128; difference <= 127; ++difference)
    results.push_back(static_cast<uint8_t>(result_of_pair(exponentials, difference)));
  for (int32_t beyond = 128; beyond <= 255; ++beyond)
    if (static_cast<uint8_t>(result_of_pair(exponentials, beyond)) != results.back() ||
        static_cast<uint8_t>(result_of_pair(exponentials, -beyond)) != results.front())
      return std::nullopt;
  return results;
}

// Differences of int16 in steps of 10 / 65535.
double int16_factor(const Site& site) {
  const double beta = static_cast<double>(site.node.attrs<graph::SoftmaxAttrs>().beta);
  return scale_of(site.in()) * beta / (10.0 / 65535.0);
}

// All 511 differences fit the 512 lines of a table of 16 bits, each at the beginning of a line: times the
// length of a line they meet no slope.
constexpr int32_t kLines = 512, kLineLength = 128;
std::vector<uint8_t> wide_results_of_pairs(const LookUpTable& exponentials) {
  std::vector<uint8_t> table;
  for (int32_t line = 0; line < kLines; ++line) {
    const int32_t difference = std::max(line - kLines / 2, -255);
    const int8_t result = result_of_pair(exponentials, difference);
    table.insert(table.end(),
                 {static_cast<uint8_t>(result), static_cast<uint8_t>(result < 0 ? 0xff : 0), 0, 0});
  }
  return table;
}

// Each of two elements minus the other, times `factor`, through the table.
void emit_pair(Builder& builder, const Node& node, const Operand& out, int32_t factor,
               std::vector<uint8_t> results) {
  const int32_t table = builder.table({fmt::format("{}_pairs", node.name), std::move(results)});
  const Operand in = builder.read_as(node.inputs.at(0), out.extent);
  const Clamp range = range_of(builder.type_of(out));
  for (int32_t which = 0; which < 2; ++which) {
    const auto element = [&](const Operand& of, int32_t index) {
      Operand one = box(of, {0, 0, index}, {of.extent.height, 1, 1});
      one.zero_point = 0;
      return one;
    };
    Operation op = builder.start(Sub, element(in, which), element(out, which));
    op.ifm2 = element(in, 1 - which);
    op.ifm2_type = DataType::Int8;
    op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
    op.global_scale = ChannelScale{.multiplier = static_cast<uint32_t>(factor)};
    op.activation = Activation::Lut;
    op.lut = table;
    op.clamp_low = range.low;
    op.clamp_high = range.high;
    builder.emit(std::move(op));
  }
}

void legalise_pair(Builder& builder, const Node& node, int32_t rows,
                   const LookUpTable& exponentials) {
  const Operand out = builder.write_as(node.outputs.at(0), {rows, 1, 2});
  if (std::optional<std::vector<uint8_t>> results = results_of_pairs(exponentials))
    return emit_pair(builder, node, out, 1, std::move(*results));
  const Operand wide_out = builder.inner("pairs", DataType::Int16, out.extent);
  emit_pair(builder, node, wide_out, kLineLength, wide_results_of_pairs(exponentials));
  Operation narrow = builder.start(AveragePool, wide_out, out);
  narrow.ofm.zero_point = 0;
  narrow.global_scale = ChannelScale{.multiplier = 1};
  narrow.clamp_low = -128;
  narrow.clamp_high = 127;
  builder.emit(std::move(narrow));
}

// Values of 32 bits take four times the memory of the operands, and there are two of them for each element: rows that are
// many go in eighths. A band has as many as its numbers for each row take to be worth their commands.
int32_t rows_at_a_time(int32_t rows) {
  constexpr int32_t kBands = 8, kLeastRows = 256;
  return std::max((rows + kBands - 1) / kBands, kLeastRows);
}

class RowsOfInt8 {
 public:
  RowsOfInt8(Builder& builder, LookUpTable exponentials)
      : builder_(builder),
        saturates_alike_(doubling_may_wait(exponentials)),
        table_(builder.table(std::move(exponentials))) {}

  void emit(const Operand& in, const Operand& out) {
    const Operand exps = emit_exponentials(in);
    const Operand sums = emit_sums(exps);
    emit_quotients(exps, sums, out);
  }

 private:
  // Of the differences to a row's largest element, in Q0.31.
  Operand emit_exponentials(const Operand& in) {
    const Extent& all = in.extent;
    const Operand largest = builder_.inner("largest", DataType::Int8, {all.height, 1, 1});
    Operation max =
        builder_.start(MaxPool, builder_.reshaped(in, {all.height, all.depth, 1}), largest);
    max.ifm.zero_point = 0;
    max.kernel.width = all.depth;
    builder_.emit(std::move(max));

    // The difference, at most 0, indexes the table from its end: with the zero point 127 it is an
    // int8.
    Operand exps = builder_.inner("exps", DataType::Int32, all, 127);
    Operation subtract = builder_.start(Sub, in, exps);
    subtract.ifm.zero_point = 0;
    subtract.ifm2 = largest;
    subtract.ifm2_type = DataType::Int8;
    subtract.ifm_scale = subtract.ifm2_scale = ChannelScale{.multiplier = 1};
    subtract.global_scale = ChannelScale{.multiplier = 1};
    look_up_wide(subtract, table_);
    builder_.emit(std::move(subtract));
    exps.zero_point = 0;
    return exps;
  }

  // In Q12.19. One number for each row from here on, without rows.
  Operand emit_sums(const Operand& exps) {
    const Operand rounded = shifted(exps, kAccumulationIntegerBits, Rounding::Natural);
    const Operand sum = builder_.inner("sum", DataType::Int32, {exps.extent.height, 1, 1});
    Operation reduce = builder_.start(ReduceSum, rounded, sum);
    reduce.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(reduce));
    return packed(builder_, sum);
  }

  void emit_quotients(const Operand& exps, const Operand& sums, const Operand& out) {
    const Extent one = {out.extent.height, 1, 1};
    const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, sums.extent);
    builder_.emit(builder_.start(CountLeadingZeros, sums, zeros));
    // sum = (1 + f) / 2 * 2^n with 0 <= f < 1; `half` is (1 + f) / 2 in Q0.31. TFLM goes there
    // through f, to the same bits.
    const Operand half = wide(builder_, ShiftLeft, sums, wide(builder_, Sub, zeros, constant(1)));
    const Operand x = emit_reciprocals(half);
    const Operand product =
        wide(builder_, Mul, exps, builder_.reshaped(x, one), saturates_alike_ ? 30 : 31);
    // 2^-n, and from Q0.31 to 1/256. Where that may be more than 31 bits, some go first; of a number that is not
    // negative, bits cut off below those that are rounded change nothing.
    const int32_t first = out.extent.depth > kMostUnsplitDepth ? 16 : 0;
    const Operand rest = first > 0 ? shifted(product, first, Rounding::Truncate) : product;
    const Operand right = minus(kAccumulationIntegerBits + 31 - 8 - first, zeros);
    Operation last = wide_operation(builder_, ShiftRight, rest, builder_.reshaped(right, one), out);
    last.rounding = Rounding::Natural;
    builder_.emit(std::move(last));
  }

  // 1 / half from 48/17 - 32/17 * half on, in Q2.29.
  Operand emit_reciprocals(const Operand& half) {
    Operand x = wide(builder_, Add, high(half, constant(kMinus32Over17)), constant(k48Over17));
    for (int step = 0; step < kNewtonSteps; ++step) {
      const Operand error = minus(kOne, high(x, half));
      const Operand correction = wide(builder_, Mul, high(x, error), constant(4));
      x = wide(builder_, Add, x, correction);
    }
    return saturates_alike_ ? x : wide(builder_, Mul, x, constant(2));
  }

  Operand constant(int32_t value) { return wide_constant(builder_, value); }
  Operand high(const Operand& a, const Operand& b) { return wide(builder_, Mul, a, b, 31); }
  Operand minus(int32_t a, const Operand& b) {
    Operation op = wide_operation(builder_, Sub, b, constant(a),
                                  builder_.inner("wide", DataType::Int32, b.extent));
    op.reverse_operands = true;
    const Operand out = op.ofm;
    builder_.emit(std::move(op));
    return out;
  }
  Operand shifted(const Operand& x, int32_t right, Rounding rounding) {
    const Operand out = builder_.inner("shifted", DataType::Int32, x.extent);
    Operation op = wide_operation(builder_, ShiftRight, packed(builder_, x), constant(right),
                                  packed(builder_, out));
    op.rounding = rounding;
    builder_.emit(std::move(op));
    return out;
  }

  Builder& builder_;
  bool saturates_alike_;  // TFLM doubles x to Q0.31, where 1 saturates, before it multiplies
  int32_t table_;
};

}  // namespace

Reason refuses_softmax(const Site& site) {
  if (site.out().type != site.in().type)
    return fmt::format("the output is {}, softmax of {} is made into {}",
                       to_string(site.out().type), to_string(site.in().type),
                       to_string(site.in().type));
  const int64_t depth = site.in().shape.back();
  if (element_count(site.in().shape) / depth > kMostExtent)
    return fmt::format("{} rows are above {}", element_count(site.in().shape) / depth, kMostExtent);
  if (site.in().type == DataType::Int16) {
    if (depth > kMostPoolElements - 1)
      return fmt::format("{} elements are above {}: their sum would need more than 31 bits", depth,
                         kMostPoolElements - 1);
    // TFLM lets what is more than 32 bits wrap around, as the scale of a mask of -1e9 makes it; here it would saturate.
    if (int16_factor(site) * 65535 >= std::ldexp(1.0, 31))
      return fmt::format(
          "the input's scale {} times beta is above 5: differences need more than 32 bits",
          scale_of(site.in()));
    return std::nullopt;
  }
  if (zero_point_of(site.out()) != -128 || scale_of(site.out()) != 1.0 / 256)
    return std::string("the output's scale is not 1/256 from -128 on");
  if (depth > kMostSoftmaxDepth)
    return fmt::format("{} elements are above {}: their sum would need more than 31 bits", depth,
                       kMostSoftmaxDepth);
  return std::nullopt;
}

void legalise_softmax(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const auto depth = static_cast<int32_t>(site.in().shape.back());
  const auto rows = static_cast<int32_t>(element_count(site.in().shape) / depth);
  LookUpTable exponential_table =
      site.in().type == DataType::Int8 ? exponentials(site) : LookUpTable{};
  if (site.in().type == DataType::Int8 && depth == 2)
    return legalise_pair(builder, node, rows, exponential_table);
  const Extent all = {rows, 1, depth};
  const Operand in = builder.read_as(node.inputs.at(0), all),
                out = builder.write_as(node.outputs.at(0), all);
  std::optional<RowsOfInt8> rows_of_int8;
  if (site.in().type == DataType::Int8) rows_of_int8.emplace(builder, std::move(exponential_table));
  for (int32_t first = 0; first < rows; first += rows_at_a_time(rows)) {
    const auto band = [&](const Operand& of) {
      return box(of, {first, 0, 0}, {std::min(rows_at_a_time(rows), rows - first), 1, depth});
    };
    if (rows_of_int8)
      rows_of_int8->emit(band(in), band(out));
    else
      emit_softmax_int16(builder, band(in), band(out), int16_factor(site));
  }
}

}  // namespace intarsia::targets::ethos_u
