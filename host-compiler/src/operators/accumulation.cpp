// Sums of many operands, and running sums along an axis.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/common_types.h"
#include "operators/families.h"
#include "operators/lowering/broadcast.h"
#include "operators/lowering/dims.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

// Sums are formed on a common scale of the operands with 20 bits more, then brought to the output's.
void sums(OpCheck& check) {
  if (!check.ok() || check.in(0).type == Float32 || check.in(0).type == Int32) return;
  bool fine = check.per_tensor(check.out(), "output");
  for (size_t i = 0; i < check.node.inputs.size(); ++i)
    fine &= check.per_tensor(check.in(i), fmt::format("operand {}", i));
  if (!fine) return;
  for (size_t i = 1; i < check.node.inputs.size(); ++i)
    check.require(check.in(i).quantization == check.in(0).quantization,
                  fmt::format("operand {} differs from operand 0 in its quantisation", i));
  if (check.ok()) check.factor(add_factors(check.in(0), check.in(0), check.out()).output, 0);
}

Shapes infer_add_n(OpCheck& check) {
  const DataType type = check.in(0).type;
  for (size_t i = 1; i < check.node.inputs.size(); ++i) {
    check.require(check.in(i).type == type,
                  fmt::format("operand {} has another type than operand 0", i));
    check.require(
        check.in(i).shape == check.in(0).shape,
        fmt::format("operand {} has the shape [{}], but operand 0 has [{}]", i,
                    fmt::join(check.in(i).shape, ","), fmt::join(check.in(0).shape, ",")));
  }
  sums(check);
  return {check.in(0).shape};
}

Shapes infer_cumsum(OpCheck& check) {
  const auto& a = check.node.attrs<CumsumAttrs>();
  check.require(a.axis >= 0 && a.axis < static_cast<int64_t>(check.in(0).shape.size()),
                fmt::format("has the axis {} for rank {}", a.axis, check.in(0).shape.size()));
  sums(check);
  return {check.in(0).shape};
}

// Sums of int8 on the scale that add_n and cumsum work on. TFLite Micro's begin with the zero point once
// more than there are elements.
class FixedSum {
 public:
  explicit FixedSum(const Invocation& call)
      : factors_(add_factors(call.in(0), call.in(0), call.out())),
        in_(fixed_factor(factors_.a)),
        out_(fixed_factor(factors_.output)),
        in_zero_(static_cast<int32_t>(call.in_zero_point())),
        out_zero_(call.out_zero_point()),
        range_(quantized_range<int8_t>(Activation::None, call.out())) {}

  int32_t scaled(int8_t x) const {
    return multiply(wrapping_mul(x - in_zero_, 1 << factors_.left_shift), in_);
  }
  int32_t start() const { return scaled(0); }
  int8_t result(int32_t sum) const {
    return requantized<int8_t>(multiply(sum, out_), out_zero_, range_);
  }

 private:
  AddFactors factors_;
  FixedFactor in_, out_;
  int32_t in_zero_;
  int64_t out_zero_;
  graph::Range<int64_t> range_;
};

template <typename T, typename Sum, typename Scaled, typename Finished>
void running_sums(const Invocation& call, Sum zero, Scaled&& scaled, Finished&& finished) {
  const auto& a = call.node.attrs<CumsumAttrs>();
  const Shape& shape = call.in().shape;
  int64_t inner = 1;
  for (size_t axis = shape.size(); axis-- > static_cast<size_t>(a.axis) + 1;) inner *= shape[axis];
  const int64_t extent = shape[static_cast<size_t>(a.axis)];
  for (int64_t row = 0; row < element_count(shape) / extent; ++row) {
    Sum sum = zero;
    for (int64_t k = 0; k < extent; ++k) {
      const int64_t along = a.reverse ? extent - 1 - k : k;
      const int64_t at = (row / inner * extent + along) * inner + row % inner;
      if (a.exclusive) call.result<T>()[at] = finished(sum);
      sum = sum + scaled(call.data<T>(0)[at]);
      if (!a.exclusive) call.result<T>()[at] = finished(sum);
    }
  }
}

Result<void> eval_add_n(const Invocation& call) {
  const int64_t count = element_count(call.out().shape);
  if (call.type() == Float32) {
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (size_t input = 0; input < call.inputs.size(); ++input) sum += call.data<float>(input)[i];
      call.result<float>()[i] = sum;
    }
    return {};
  }
  const FixedSum fixed(call);
  for (int64_t i = 0; i < count; ++i) {
    int32_t sum = fixed.start();
    for (size_t input = 0; input < call.inputs.size(); ++input)
      sum = wrapping_add(sum, fixed.scaled(call.data<int8_t>(input)[i]));
    call.result<int8_t>()[i] = fixed.result(sum);
  }
  return {};
}

Result<void> eval_cumsum(const Invocation& call) {
  if (call.type() == Float32) {
    const auto same = [](float x) { return x; };
    running_sums<float>(call, 0.0f, same, same);
    return {};
  }
  struct Wrapping {
    int32_t value;
    Wrapping operator+(int32_t x) const { return {wrapping_add(value, x)}; }
  };
  if (call.type() == Int32) {
    running_sums<int32_t>(
        call, Wrapping{0}, [](int32_t x) { return x; }, [](Wrapping sum) { return sum.value; });
    return {};
  }
  const FixedSum fixed(call);
  running_sums<int8_t>(
      call, Wrapping{fixed.start()}, [&](int8_t x) { return fixed.scaled(x); },
      [&](Wrapping sum) { return fixed.result(sum.value); });
  return {};
}

// The sum of elements of one quantisation: int8 with 19 bits more, which may wrap around, and which
// TFLite Micro begins with the zero point once more; int32 as they are.
struct Sum {
  DataType type;
  Expr start;
  std::function<Expr(Expr sum, Expr element)> add;
  std::function<Expr(Expr sum)> finish;
};

Sum sum_of(const OpView& v) {
  if (v.out().type == Int32)
    return {Int32, tir::int_imm(0),
            [](Expr sum, Expr x) {
              return tir::call(Int32, "intarsia_add_wrapping_i32", {std::move(sum), std::move(x)});
            },
            [](Expr sum) { return sum; }};
  if (!is_integer(v.out().type)) {
    return {Float32, tir::float_imm(0),
            [](Expr sum, Expr x) { return std::move(sum) + std::move(x); },
            [](Expr sum) { return sum; }};
  }
  const double in = v.in(0).quantization.scale[0], out = v.out().quantization.scale[0];
  const Multiplier m = add_rescaling(v.out().type, in, in, out)->output;
  const int64_t zero = zero_point(v.in(0)), out_zero = zero_point(v.out());
  return {Int32, tir::int_imm(-zero * (int64_t{1} << 19)),
          [zero](Expr sum, Expr x) {
            const Expr scaled = (to_i32(std::move(x)) - zero) * (int64_t{1} << 19);
            return tir::call(Int32, "intarsia_add_wrapping_i32", {std::move(sum), scaled});
          },
          [m, out_zero](Expr sum) {
            return clamp(requantize(std::move(sum), m) + out_zero, type_range(Int8), Int8);
          }};
}

Refusal refuses_sum(const OpView& view) {
  const DataType type = view.out().type;
  if (type == Float32 || type == Int32) return std::nullopt;
  if (Refusal quantization = refuses_quantization(view)) return quantization;
  const double in = view.in(0).quantization.scale[0], out = view.out().quantization.scale[0];
  if (!add_rescaling(type, in, in, out))
    return "the scales of operands and output are too far apart";
  return std::nullopt;
}

Stmt lower_add_n(OpLowering& op) {
  const Sum sum = sum_of(op.view);
  return combine_operands(op, [&](const std::vector<Expr>& elements) {
    Expr total = sum.start;
    for (const Expr& element : elements) total = sum.add(total, element);
    return sum.finish(total);
  });
}

Stmt lower_cumsum(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<CumsumAttrs>();
  const Shape& shape = v.in(0).shape;
  const auto axis = static_cast<size_t>(attrs.axis);
  const int64_t extent = shape[axis];
  const Shape folded{product(shape, 0, axis), extent, product(shape, axis + 1, shape.size())};
  op.declare({folded}, folded);
  const Sum sum = sum_of(v);
  const BufferId acc = b.register_("sum", sum.type);
  return b.loop("n", folded[0], [&](const Expr& n) {
    return b.loop("i", folded[2], [&](const Expr& i) {
      const Stmt along = b.loop("k", extent, [&](const Expr& k) {
        const Expr at = attrs.reverse ? tir::int_imm(extent - 1) - k : k;
        const Stmt add = b.store(acc, {}, sum.add(b.load(acc), b.load(op.in(0), {n, at, i})));
        const Stmt result = b.store(op.out(), {n, at, i}, sum.finish(b.load(acc)));
        return attrs.exclusive ? tir::seq({result, add}) : tir::seq({add, result});
      });
      return tir::seq({b.store(acc, {}, sum.start), along});
    });
  });
}

constexpr TypeRule kRunningTypes[] = {{Int8, Int8}, {Int32, Int32}, {Float32, Float32}};

constexpr Operator kAccumulationOperators[] = {
    {.kind = OpKind::AddN,
     .types = kInt8OrReal,
     .infer = infer_add_n,
     .evaluate = eval_add_n,
     .lower = lower_add_n,
     .refuses = refuses_sum},
    {.kind = OpKind::Cumsum,
     .types = kRunningTypes,
     .infer = infer_cumsum,
     .evaluate = eval_cumsum,
     .lower = lower_cumsum,
     .refuses = refuses_sum},
};

}  // namespace

std::span<const Operator> accumulation_operators() {
  return kAccumulationOperators;
}

}  // namespace intarsia::operators
