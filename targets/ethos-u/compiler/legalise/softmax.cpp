// Softmax. Of int8 in gemmlowp's fixed point, step by step as TFLM computes it: exponentials from a
// table of 256 words (Q0.31), their sum in Q12.19, its reciprocal by three steps of Newton and
// Raphson. Results of two elements depend on their difference alone: a table.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "legalise/operators.h"
#include "legalise/softmax_int16.h"
#include "legalise/softmax_rows.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;
using enum OperationKind;

constexpr int32_t kMostUnsplitDepth = 511;  // sums below 2^28

// Entry i is e^(scale * (i - 255)): differences to the largest element.
LookUpTable exponentials(const Site& site) {
  const double beta = static_cast<double>(site.node.attrs<graph::SoftmaxAttrs>().beta);
  return wide_words(fmt::format("{}_exp", site.node.name),
                    softmax_exponentials(softmax_differences(beta * scale_of(site.in()))));
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

// Of two elements, the result of one that is `difference` above the other.
int8_t result_of_pair(const LookUpTable& exponentials, int32_t difference) {
  const auto exponential_of = [&](int32_t d) {
    return entry(exponentials, static_cast<size_t>(255 + std::min(d, 0)));
  };
  const int32_t own = exponential_of(difference);
  const int32_t sum = rounding_shift_right(own, kAccumulationIntegerBits) +
                      rounding_shift_right(exponential_of(-difference), kAccumulationIntegerBits);
  const int headroom = std::countl_zero(static_cast<uint32_t>(sum));
  const int32_t value =
      rounding_shift_right(high_product(own, reciprocal_of(sum << (headroom - 1))),
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

// Rows of two elements that are worth fetching weights: single elements among others take six cycles each to read and write.
constexpr int32_t kManyPairs = 64;
// As many of them beside each other as fill the channels of a brick.
constexpr int32_t kPairsTogether = 8;

// Each of two elements minus the other, times `factor`, through the table: of many rows as products with 1 and -1.
Operation differences_of_many(Builder& builder, const Operand& in, const Operand& out,
                              int32_t factor) {
  const int32_t depth = out.extent.depth;
  Operation op = builder.start(Conv, in, out);
  Weights weights;
  for (int32_t to = 0; to < depth; ++to)
    for (int32_t from = 0; from < depth; ++from)
      weights.push_back(static_cast<int16_t>(from == to ? 1 : from == (to ^ 1) ? -1 : 0));
  op.weights = std::move(weights);
  op.scales.assign(static_cast<size_t>(depth),
                   ChannelScale{.multiplier = static_cast<uint32_t>(factor)});
  return op;
}

// The first or the second element of each row.
Operation differences_of_few(Builder& builder, const Operand& in, const Operand& out,
                             int32_t factor, int32_t which) {
  const auto element = [](const Operand& of, int32_t index) {
    return box(of, {0, 0, index}, one_of_each_row(of.extent));
  };
  Operation op = builder.start(Sub, element(in, which), element(out, which));
  op.ifm2 = element(in, 1 - which);
  op.ifm2_type = DataType::Int8;
  op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
  op.global_scale = ChannelScale{.multiplier = static_cast<uint32_t>(factor)};
  return op;
}

void emit_pair(Builder& builder, const Node& node, Operand out, int32_t factor,
               std::vector<uint8_t> results) {
  const int32_t table = builder.table({fmt::format("{}_pairs", node.name), std::move(results)});
  Operand in = builder.read_as(node.inputs.at(0), out.extent);
  in.zero_point = out.zero_point = 0;
  const Clamp range = range_of(builder.type_of(out));
  const auto emit = [&](Operation op) {
    op.activation = Activation::Lut;
    op.lut = table;
    op.clamp_low = range.low;
    op.clamp_high = range.high;
    builder.emit(std::move(op));
  };
  const int32_t rows = out.extent.height * out.extent.width;
  if (rows < kManyPairs || builder.confirmed_only()) {
    for (int32_t which = 0; which < 2; ++which)
      emit(differences_of_few(builder, in, out, factor, which));
    return;
  }
  const int32_t together = std::gcd(rows, kPairsTogether);
  const Extent folded = extent_of_rows(rows / together, 2 * together);
  emit(differences_of_many(builder, builder.reshaped(in, folded), builder.reshaped(out, folded),
                           factor));
}

void legalise_pair(Builder& builder, const Node& node, int32_t rows,
                   const LookUpTable& exponentials) {
  const Operand out = builder.write_as(node.outputs.at(0), extent_of_rows(rows, 2));
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

class RowsOfInt8 {
 public:
  RowsOfInt8(Builder& builder, LookUpTable exponentials)
      : builder_(builder),
        saturates_alike_(doubling_may_wait(exponentials)),
        table_(builder.table(std::move(exponentials))) {}

  void emit(const Operand& in, const Operand& out) {
    const Operand exps = look_up_below(builder_, "exps", in, emit_largest(builder_, in), table_);
    const Operand sums = emit_sums(exps);
    emit_quotients(exps, sums, out);
  }

 private:
  // In Q12.19. One number for each row from here on, without rows.
  Operand emit_sums(const Operand& exps) {
    const Operand rounded =
        wide_shifted(builder_, exps, kAccumulationIntegerBits, Rounding::Natural);
    const Operand sum = builder_.inner("sum", DataType::Int32, one_of_each_row(exps.extent));
    Operation reduce = builder_.start(ReduceSum, rounded, sum);
    reduce.global_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(reduce));
    return packed(builder_, sum);
  }

  void emit_quotients(const Operand& exps, const Operand& sums, const Operand& out) {
    const Extent one = one_of_each_row(out.extent);
    const Operand zeros = builder_.inner("leading_zeros", DataType::Int32, sums.extent);
    builder_.emit(builder_.start(CountLeadingZeros, sums, zeros));
    // sum = (1 + f) / 2 * 2^n with 0 <= f < 1; `half` is (1 + f) / 2 in Q0.31. TFLM goes there
    // through f, to the same bits.
    const Operand half = wide(builder_, ShiftLeft, sums, wide(builder_, Sub, zeros, constant(1)));
    const Operand reciprocals = emit_reciprocals(builder_, half);
    const Operand x =
        saturates_alike_ ? reciprocals : wide(builder_, Mul, reciprocals, constant(2));
    const Operand product =
        wide(builder_, Mul, exps, builder_.reshaped(x, one), saturates_alike_ ? 30 : 31);
    // 2^-n, and from Q0.31 to 1/256. Where that may be more than 31 bits, some go first; of a number that is not
    // negative, bits cut off below those that are rounded change nothing.
    const int32_t first = out.extent.depth > kMostUnsplitDepth ? 16 : 0;
    const Operand rest =
        first > 0 ? wide_shifted(builder_, product, first, Rounding::Truncate) : product;
    const Operand right =
        wide_difference(builder_, kAccumulationIntegerBits + 31 - 8 - first, zeros);
    Operation last = wide_operation(builder_, ShiftRight, rest, builder_.reshaped(right, one), out);
    last.rounding = Rounding::Natural;
    builder_.emit(std::move(last));
  }

  Operand constant(int32_t value) { return wide_constant(builder_, value); }

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
  std::optional<RowsOfInt8> rows_of_int8;
  if (site.in().type == DataType::Int8) rows_of_int8.emplace(builder, std::move(exponential_table));
  emit_in_bands_of_rows(builder, node, [&](const Operand& in, const Operand& out) {
    if (rows_of_int8)
      rows_of_int8->emit(in, out);
    else
      emit_softmax_int16(builder, in, out, int16_factor(site));
  });
}

}  // namespace intarsia::targets::ethos_u
