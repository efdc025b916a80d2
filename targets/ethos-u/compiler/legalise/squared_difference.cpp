// (a - b)^2 in TFLite's own steps on 32 bits, a few rows at a time: both operands by the common scale, of int8 from a table
// of 256 values, their difference, its square, and the output's factor.
#include <algorithm>

#include <fmt/format.h>

#include "legalise/elementwise.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

struct DifferenceFactors {
  int left_shift;
  FixedFactor first, second, output;

  explicit DifferenceFactors(const Site& site)
      : left_shift(site.out().type == DataType::Int16 ? 0 : 7) {
    const double a = scale_of(site.in(0)), b = scale_of(site.in(1));
    const double twice_largest = 2 * std::max(a, b);
    first = fixed_factor(a / twice_largest);
    second = fixed_factor(b / twice_largest);
    // TFLite has the unit of the squares in float.
    const float unit =
        static_cast<float>(1 << (2 * left_shift)) * site.out().quantization.scale.at(0);
    output = fixed_factor(twice_largest * twice_largest / static_cast<double>(unit));
  }
};

// One operand by the common scale.
class ScaledOperand {
 public:
  ScaledOperand(Builder& builder, const Node& node, const graph::Tensor& tensor, int left_shift,
                const FixedFactor& factor)
      : builder_(builder), factor_(factor) {
    if (tensor.type != DataType::Int8) return;
    std::vector<int32_t> values;
    for (int32_t x = -128; x <= 127; ++x)
      values.push_back(multiply((x - zero_point_of(tensor)) * (1 << left_shift), factor));
    table_ = wide_table(builder, fmt::format("{}_scaled", node.name), values);
  }

  Operand of(const Operand& x) const {
    if (table_ >= 0) return wide_looked_up(builder_, x, table_);
    return wide_product(builder_, widened(builder_, x, 0), factor_);
  }

 private:
  Builder& builder_;
  FixedFactor factor_;
  int32_t table_ = -1;
};

}  // namespace

Reason refuses_squared_difference(const Site& site) {
  return refuses_pairing(site);
}

void legalise_squared_difference(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const DifferenceFactors factors(site);
  const ScaledOperand first(builder, node, site.in(0), factors.left_shift, factors.first);
  const ScaledOperand second(builder, node, site.in(1), factors.left_shift, factors.second);
  Operands all = operands_of(builder, node);
  for (Operand* operand : {&all.a, &all.b})
    if (operand->extent != all.out.extent) *operand = near_constant(builder, *operand);
  in_symmetric_bands(builder, node, all, [&](const Operands& band, bool swapped) {
    const Operand a = (swapped ? second : first).of(band.a);
    const Operand b = (swapped ? first : second).of(band.b);
    const Operand difference = wide(builder, OperationKind::Sub, a, b);
    Operand square = wide(builder, OperationKind::Mul, difference, difference);
    // Squares have 31 bits; what TFLite shifts left out of 32 bits wraps around.
    const int left = std::max(factors.output.exponent, 0);
    if (left > 0)
      square = wide(builder, OperationKind::ShiftLeft, square, wide_constant(builder, left));
    builder.emit(wide_operation(builder, OperationKind::Mul, square,
                                wide_constant(builder, factors.output.value), band.out,
                                31 - factors.output.exponent + left));
  });
}

}  // namespace intarsia::targets::ethos_u
