// Softmax of int16 as TFLM computes it: exponentials of -10 .. 0 and reciprocals of 1 .. 2 from tables
// of straight lines, which are the NPU's own tables of 512 lines.
#include "legalise/softmax_int16.h"

#include <algorithm>
#include <cmath>

#include "intarsia/plugin/rounded_exp.h"
#include "legalise/softmax_rows.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using enum OperationKind;

constexpr int32_t kLines = 512, kLeast = -32768, kMost = 32767;

// f over `first` .. `last` in lines through 513 points, a result of 1 as 32767.5. In float, and each point
// less half of what the line misses in its middle, as TFLM has them.
template <typename F>
std::vector<uint8_t> lines(float first, float last, F&& f) {
  constexpr float kResultScale = 2.0f / 65535;
  const float per_unit = 65536.0f / (kResultScale * static_cast<float>(kMost) -
                                     kResultScale * static_cast<float>(kLeast));
  const float step = (last - first) / kLines;
  const auto in_range = [](float value) {
    return static_cast<int32_t>(std::clamp(value, float{kLeast}, float{kMost}));
  };
  std::vector<int32_t> points;
  for (int32_t i = 0; i < kLines; ++i) {
    const float x = first + static_cast<float>(i) * step;
    const float here = std::round(f(x) * per_unit);
    const float next = f(first + static_cast<float>(i + 1) * step) * per_unit;
    const float middle = std::round(f(x + step / 2) * per_unit);
    const float missed = std::round((next + here) / 2) - middle;
    points.push_back(in_range(here - std::round(missed / 2)));
  }
  points.push_back(in_range(std::round(f(last) * per_unit)));
  std::vector<uint8_t> table;
  for (size_t i = 0; i < kLines; ++i)
    for (const int32_t half : {points[i], points[i + 1] - points[i]})
      for (int byte = 0; byte < 2; ++byte)
        table.push_back(static_cast<uint8_t>(half >> (8 * byte)));
  return table;
}

std::vector<uint8_t> exponentials() {
  constexpr float kScale = 10.0f / 65535;
  return lines(kScale * static_cast<float>(kLeast - kMost), 0.0f, graph::rounded_exp);
}
std::vector<uint8_t> reciprocals() {
  constexpr float kScale = 1.0f / 65535;
  return lines(0.0f, kScale * static_cast<float>(kMost - kLeast),
               [](float x) { return 1.0f / (1.0f + x); });
}

// Through a table behind an operation on words that makes int16 of them.
void through(Builder& builder, Operation op, std::string name, std::vector<uint8_t> table) {
  op.activation = Activation::Lut;
  op.lut = builder.table({std::move(name), std::move(table)});
  builder.emit(std::move(op));
}

}  // namespace

void emit_softmax_int16(Builder& builder, const Operand& in, const Operand& out, double factor) {
  const Extent all = in.extent, one = one_of_each_row(all);
  const auto constant = [&](int32_t value) { return wide_constant(builder, value); };

  const Operand largest = emit_largest(builder, in);

  Operand difference = builder.inner("difference", DataType::Int32, all);
  Operation subtract = builder.start(Sub, in, difference);
  subtract.ifm2 = largest;
  subtract.ifm2_type = DataType::Int16;
  subtract.ifm_scale = subtract.ifm2_scale = ChannelScale{.multiplier = 1};
  subtract.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(subtract));

  difference = packed(builder, difference);
  const Operand exps = builder.inner("exps", DataType::Int16, all);
  through(builder,
          wide_operation(builder, Add, wide_product(builder, difference, fixed_factor(factor)),
                         constant(kMost), packed(builder, exps)),
          "exponentials", exponentials());

  const Operand sum = builder.inner("sum", DataType::Int32, one);
  Operation reduce = builder.start(ReduceSum, exps, sum);
  reduce.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(reduce));

  // One number for each row from here on, without rows: the sum as 65536 .. 131071, of which the reciprocal is taken, and a power of two.
  const Operand sums = packed(builder, sum);
  const Operand zeros = builder.inner("leading_zeros", DataType::Int32, sums.extent);
  builder.emit(builder.start(CountLeadingZeros, sums, zeros));
  const Operand aligned = wide(builder, ShiftLeft, sums, wide(builder, Sub, zeros, constant(1)));
  const Operand scaled = builder.inner("scaled", DataType::Int32, sums.extent);
  Operation shift = wide_operation(builder, ShiftRight, aligned, constant(14), scaled);
  shift.rounding = Rounding::Natural;
  builder.emit(std::move(shift));
  const Operand reciprocal = builder.inner("reciprocal", DataType::Int16, sums.extent);
  through(builder,
          wide_operation(builder, Sub, scaled, constant((1 << 15) + (1 << 16)), reciprocal),
          "reciprocals", reciprocals());

  const Operand product = builder.inner("product", DataType::Int32, all);
  Operation multiply = builder.start(Mul, exps, product);
  multiply.ifm2 = builder.reshaped(reciprocal, one);
  multiply.ifm2_type = DataType::Int16;
  multiply.global_scale = ChannelScale{.multiplier = 1};
  builder.emit(std::move(multiply));

  Operation right = wide_operation(builder, Sub, zeros, constant(31),
                                   builder.inner("shift", DataType::Int32, sums.extent));
  right.reverse_operands = true;
  const Operand shifts = right.ofm;
  builder.emit(std::move(right));
  Operation last = wide_operation(builder, ShiftRight, product, builder.reshaped(shifts, one), out);
  last.rounding = Rounding::Natural;
  last.clamp_low = 0;
  last.clamp_high = kMost;
  builder.emit(std::move(last));
}

}  // namespace intarsia::targets::ethos_u
