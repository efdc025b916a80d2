// SVDF. The evaluator hands the old state as an operand and takes the new one as an output; in C state is a parameter that is
// read and written.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/families.h"
#include "operators/state_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_svdf(OpCheck& check) {
  const auto& a = check.node.attrs<SvdfAttrs>();
  check.rank(0, 2, "input"), check.rank(1, 2, "feature weights"), check.rank(2, 2, "time weights");
  if (!check.ok() || !check.in_range("rank", a.rank, 1)) return {};
  const int64_t batches = check.in(0).shape[0], inputs = check.in(0).shape[1];
  const int64_t filters = check.in(1).shape[0], memory = check.in(2).shape[1];
  has_shape(check, 1, {filters, inputs}, "feature weights");
  has_shape(check, 2, {filters, memory}, "time weights");
  if (!check.require(filters % a.rank == 0,
                     fmt::format("{} filters cannot be divided by the rank {}", filters, a.rank)))
    return {};
  const int64_t units = filters / a.rank;
  if (check.has(3)) has_shape(check, 3, {units}, "bias");
  is_state(check, 4, 1, batches * filters * memory, "activation state");
  if (check.ok() && check.in(0).type == Int8) {
    check.per_tensor(check.in(0), "input"), check.per_tensor(check.out(), "output");
    check.per_tensor(check.in(4), "activation state");
    one_zero_scale(check, 1, "feature weights"), one_zero_scale(check, 2, "time weights");
    if (check.ok()) {
      const SvdfFactors factors =
          svdf_factors(check.in(0), check.in(1), check.in(2), check.in(4), check.out());
      check.factor(factors.feature, kMostExponent32), check.factor(factors.time, kMostExponent32);
    }
    check.require(a.activation == Activation::Relu || a.activation == Activation::None,
                  "an integer SVDF has no fused activation but relu");
  }
  return {{batches, units}, check.in(4).shape};
}

struct SvdfShape {
  int64_t batches, inputs, filters, memory, units, rank;

  explicit SvdfShape(const Invocation& call)
      : batches(call.in(0).shape[0]),
        inputs(call.in(0).shape[1]),
        filters(call.in(1).shape[0]),
        memory(call.in(2).shape[1]),
        units(call.out().shape[1]),
        rank(call.node.attrs<SvdfAttrs>().rank) {}
};

// Every filter's row of the state moves by one and takes the new feature at its end.
template <typename T, typename Feature>
void shift_state(const Invocation& call, const SvdfShape& s, Feature&& feature) {
  const T* old = call.data<T>(4);
  T* state = call.result<T>(1);
  for (int64_t row = 0; row < s.batches * s.filters; ++row) {
    std::copy_n(old + row * s.memory + 1, s.memory - 1, state + row * s.memory);
    state[(row + 1) * s.memory - 1] = feature(row / s.filters, row % s.filters);
  }
}

template <typename T>
void svdf_of_int8(const Invocation& call) {
  const SvdfShape s(call);
  const SvdfFactors factors =
      svdf_factors(call.in(0), call.in(1), call.in(2), call.in(4), call.out());
  const FixedFactor feature_factor = fixed_factor(factors.feature);
  const FixedFactor time_factor = fixed_factor(factors.time);
  const auto zero = static_cast<int32_t>(call.in_zero_point(0));
  const auto state_zero = static_cast<int32_t>(call.in_zero_point(4));
  shift_state<T>(call, s, [&](int64_t batch, int64_t filter) {
    int32_t sum = 0;
    for (int64_t i = 0; i < s.inputs; ++i)
      sum = wrapping_add(sum, call.data<int8_t>(1)[filter * s.inputs + i] *
                                  (call.data<int8_t>(0)[batch * s.inputs + i] - zero));
    constexpr int32_t kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
    return static_cast<T>(state_zero + std::clamp(multiply(sum, feature_factor), kLeast, kMost));
  });
  for (int64_t i = 0; i < s.batches * s.units; ++i) {
    const int64_t batch = i / s.units, unit = i % s.units;
    int32_t sum = call.has(3) ? call.data<int32_t>(3)[unit] : 0;
    for (int64_t k = 0; k < s.rank * s.memory; ++k) {
      const int64_t at = unit * s.rank * s.memory + k;
      sum = wrapping_add(sum,
                         call.data<T>(2)[at] *
                             (call.result<T>(1)[batch * s.filters * s.memory + at] - state_zero));
    }
    call.result<int8_t>()[i] =
        requantized<int8_t>(multiply(sum, time_factor), call.out_zero_point(), {-128, 127});
  }
}

void svdf_of_floats(const Invocation& call) {
  const SvdfShape s(call);
  const graph::Range<float> range = float_range(call.node.attrs<SvdfAttrs>().activation);
  shift_state<float>(call, s, [&](int64_t batch, int64_t filter) {
    float sum = 0;
    for (int64_t i = 0; i < s.inputs; ++i)
      sum += call.data<float>(1)[filter * s.inputs + i] * call.data<float>(0)[batch * s.inputs + i];
    return sum;
  });
  for (int64_t i = 0; i < s.batches * s.units; ++i) {
    const int64_t batch = i / s.units, unit = i % s.units;
    float sum = call.has(3) ? call.data<float>(3)[unit] : 0;
    for (int64_t k = 0; k < s.rank * s.memory; ++k) {
      const int64_t at = unit * s.rank * s.memory + k;
      sum += call.data<float>(2)[at] * call.result<float>(1)[batch * s.filters * s.memory + at];
    }
    call.result<float>()[i] = range.clamp(sum);
  }
}

Result<void> eval_svdf(const Invocation& call) {
  if (call.type() == Float32)
    svdf_of_floats(call);
  else if (call.in(4).type == Int16)
    svdf_of_int8<int16_t>(call);
  else
    svdf_of_int8<int8_t>(call);
  return {};
}

Stmt lower_svdf(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<SvdfAttrs>();
  const int64_t batches = v.in(0).shape[0], inputs = v.in(0).shape[1];
  const int64_t filters = v.in(1).shape[0], memory = v.in(2).shape[1];
  const int64_t units = filters / attrs.rank;
  op.declare(
      {Shape{batches, inputs}, Shape{filters, inputs}, Shape{filters, memory},
       v.has(3) ? std::optional(Shape{units}) : std::nullopt, Shape{batches, filters, memory}},
      {batches, units});
  const BufferId state = op.in(4);
  const bool integer = is_integer(v.out().type);
  const DataType state_type = v.in(4).type;
  const BufferId acc = b.register_("acc", integer ? Int32 : Float32);
  const Expr zero = integer ? tir::int_imm(0) : tir::float_imm(0);
  Multiplier feature_factor, time_factor;
  if (integer) {
    feature_factor =
        quantize_multiplier(static_cast<double>(scale(v.in(0)) * scale(v.in(1)) / scale(v.in(4))));
    time_factor =
        quantize_multiplier(static_cast<double>(scale(v.in(4)) * scale(v.in(2)) / scale(v.out())));
  }
  const auto centred = [&](const Expr& x, size_t input) {
    return integer ? to_i32(x) - zero_point(v.in(input)) : x;
  };
  const auto plain = [&](const Expr& x) { return integer ? to_i32(x) : x; };

  const Stmt shift_and_feature = b.loop("n", batches, [&](const Expr& n) {
    return b.loop("f", filters, [&](const Expr& f) {
      const Stmt shift = b.loop("t", tir::int_imm(0), tir::int_imm(memory - 1), [&](const Expr& t) {
        return b.store(state, {n, f, t}, b.load(state, {n, f, t + 1}));
      });
      const Stmt sum = b.loop("i", inputs, [&](const Expr& i) {
        return accumulate(b, acc,
                          centred(b.load(op.in(0), {n, i}), 0) * plain(b.load(op.in(1), {f, i})));
      });
      Expr feature = b.load(acc);
      if (integer) {
        feature = clamp(requantize(feature, feature_factor), type_range(state_type), Int32);
        feature = tir::cast(state_type, feature + zero_point(v.in(4)));
      }
      std::vector<Stmt> steps;
      if (memory > 1) steps.push_back(shift);
      steps.insert(steps.end(), {b.store(acc, {}, zero), sum,
                                 b.store(state, {n, f, tir::int_imm(memory - 1)}, feature)});
      return tir::seq(std::move(steps));
    });
  });
  const Stmt outputs = b.loop("n", batches, [&](const Expr& n) {
    return b.loop("unit", units, [&](const Expr& unit) {
      const Stmt sum = b.loop("r", attrs.rank, [&](const Expr& r) {
        return b.let("f", unit * attrs.rank + r, [&](const Expr& f) {
          return b.loop("t", memory, [&](const Expr& t) {
            return accumulate(
                b, acc, centred(b.load(state, {n, f, t}), 4) * plain(b.load(op.in(2), {f, t})));
          });
        });
      });
      Expr result = b.load(acc);
      if (integer) {
        result = clamp(requantize(result, time_factor) + zero_point(v.out()),
                       type_range(v.out().type), v.out().type);
      } else {
        result = clamp(result, activation_range(attrs.activation));
      }
      const Expr start = v.has(3) ? b.load(op.in(3), {unit}) : zero;
      return tir::seq({b.store(acc, {}, start), sum, b.store(op.out(), {n, unit}, result)});
    });
  });
  return tir::seq({tir::with_comment("every filter's memory moves by one and takes the new feature",
                                     shift_and_feature),
                   outputs});
}

int64_t svdf_macs(const Function& function, const Node& node) {
  const int64_t batches = function.tensor(node.inputs[0]).shape[0];
  const Shape &feature = function.tensor(node.inputs[1]).shape,
              &time = function.tensor(node.inputs[2]).shape;
  return batches * feature[0] * (feature[1] + time[1]);
}

// Input, feature weights, time weights, bias, state -> output.
constexpr TypeRule kSvdfTypes[] = {{Int8, Int8, Int16, Int32, Int16, Int8},
                                   {Int8, Int8, Int8, Int32, Int8, Int8},
                                   {Float32, Float32, Float32, Float32, Float32, Float32}};

constexpr Operator kSvdfOperators[] = {
    {.kind = OpKind::Svdf,
     .types = kSvdfTypes,
     .infer = infer_svdf,
     .evaluate = eval_svdf,
     .lower = lower_svdf,
     .mac_count = svdf_macs,
     .keeps_state = true},
};

}  // namespace

std::span<const Operator> svdf_operators() {
  return kSvdfOperators;
}

}  // namespace intarsia::operators
