// Average, maximum and root of the mean of squares over windows. Only the elements inside the input count.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/common_types.h"
#include "operators/families.h"
#include "operators/lowering/window.h"
#include "operators/weighted_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_pool2d(OpCheck& check) {
  const auto& a = check.node.attrs<Pool2dAttrs>();
  check.rank(0, 4, "input");
  check.in_range("filter_h", a.filter_h, 1), check.in_range("filter_w", a.filter_w, 1);
  check.in_range("stride_h", a.stride_h, 1), check.in_range("stride_w", a.stride_w, 1);
  check_padding(check, a.padding);
  if (!check.ok()) return {};
  const Tensor &input = check.in(0), &output = check.out();
  if (input.type != Float32 && check.per_tensor(input, "input") &&
      check.per_tensor(output, "output")) {
    const bool equal = input.quantization.zero_point == output.quantization.zero_point &&
                       std::abs(scale_of(input) - scale_of(output)) <= 1e-6;
    check.require(equal, "input and output have to have the same quantisation");
  }
  const int64_t height =
      window_places(check, "height", input.shape[1],
                    {a.filter_h, a.stride_h, 1, a.padding.top, a.padding.bottom});
  const int64_t width = window_places(check, "width", input.shape[2],
                                      {a.filter_w, a.stride_w, 1, a.padding.left, a.padding.right});
  const bool inside = a.padding.top < a.filter_h && a.padding.left < a.filter_w &&
                      (height - 1) * a.stride_h - a.padding.top < input.shape[1] &&
                      (width - 1) * a.stride_w - a.padding.left < input.shape[2];
  check.require(inside, "a window lies entirely in the padding");
  return {{input.shape[0], height, width, input.shape[3]}};
}

template <typename T>
class Average {
 public:
  void add(T value) {
    sum_ += value;
    ++count_;
  }
  T value() const {
    if constexpr (std::is_same_v<T, float>) {
      return sum_ / static_cast<float>(count_);
    } else {  // to nearest, ties away from zero
      const int64_t half = count_ / 2;
      return static_cast<T>((sum_ > 0 ? sum_ + half : sum_ - half) / count_);
    }
  }

 private:
  std::conditional_t<std::is_same_v<T, float>, float, int64_t> sum_ = 0;
  int64_t count_ = 0;
};

class RootOfMeanSquare {
 public:
  void add(float value) {
    sum_ += value * value;
    ++count_;
  }
  float value() const { return std::sqrt(sum_ / static_cast<float>(count_)); }

 private:
  float sum_ = 0;
  int64_t count_ = 0;
};

template <typename T>
class Maximum {
 public:
  void add(T value) { largest_ = std::max(largest_, value); }
  T value() const { return largest_; }

 private:
  T largest_ = std::numeric_limits<T>::lowest();
};

template <typename T>
T activated(T value, Activation activation, const Tensor& output) {
  if constexpr (std::is_same_v<T, float>)
    return float_range(activation).clamp(value);
  else
    return static_cast<T>(quantized_range<T>(activation, output).clamp(value));
}

template <typename T, typename Reduction>
void pool(const Invocation& call) {
  const auto& a = call.node.attrs<Pool2dAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const int64_t channels = in[3];
  const T* input = call.data<T>(0);
  for (int64_t i = 0; i < element_count(out); ++i) {
    const int64_t channel = i % channels, place = i / channels;
    const int64_t x = place % out[2] * a.stride_w - a.padding.left;
    const int64_t y = place / out[2] % out[1] * a.stride_h - a.padding.top;
    const int64_t batch = place / out[2] / out[1];
    Reduction reduction;
    for (int64_t in_y = std::max<int64_t>(y, 0); in_y < std::min(y + a.filter_h, in[1]); ++in_y)
      for (int64_t in_x = std::max<int64_t>(x, 0); in_x < std::min(x + a.filter_w, in[2]); ++in_x)
        reduction.add(input[((batch * in[1] + in_y) * in[2] + in_x) * channels + channel]);
    call.result<T>()[i] = activated(reduction.value(), a.activation, call.out());
  }
}

Result<void> eval_pool2d(const Invocation& call) {
  if (call.node.kind == OpKind::L2Pool2d) {
    pool<float, RootOfMeanSquare>(call);
    return {};
  }
  const bool average = call.node.kind == OpKind::AveragePool2d;
  const auto run = [&]<typename T>(T) {
    average ? pool<T, Average<T>>(call) : pool<T, Maximum<T>>(call);
    return Result<void>();
  };
  if (call.type() == Int8) return run(int8_t{});
  if (call.type() == Int16) return run(int16_t{});
  if (call.type() == Float32) return run(float{});
  return unsupported_types(call);
}

struct PoolShape {
  int64_t batches;
  Axis y, x;
  int64_t channels;
  Activation activation;
};

PoolShape pool_shape(const OpView& v) {
  const auto& attrs = v.node.attrs<Pool2dAttrs>();
  const Shape &in = v.in(0).shape, &out = v.out().shape;
  PoolShape s{in[0],
              {in[1], out[1], attrs.filter_h, attrs.stride_h, 1, attrs.padding.top},
              {in[2], out[2], attrs.filter_w, attrs.stride_w, 1, attrs.padding.left},
              in[3],
              attrs.activation};
  if (s.x.is_global() && s.y.is_global()) {  // all pixels are one row
    const int64_t pixels = in[1] * in[2];
    s.y = {1, 1, 1};
    s.x = {pixels, 1, pixels};
  }
  if (s.x.is_trivial()) std::swap(s.x, s.y);
  return s;
}

// acc = start; acc = step(acc, element) over the window; output = finish(acc, number of elements).
struct WindowReduction {
  DataType type;  // of the accumulator
  Expr start;
  std::function<Expr(Expr acc, Expr element)> step;
  std::function<Expr(Expr acc, Expr count)> finish;
};

Stmt lower_pool(OpLowering& op, const PoolShape& s, const WindowReduction& reduction) {
  FuncBuilder& b = op.b;
  op.declare({Shape{s.batches, s.y.input, s.x.input, s.channels}},
             {s.batches, s.y.output, s.x.output, s.channels});
  const BufferId acc = b.register_("acc", reduction.type);
  return for_each_place(b, s.batches, s.y, s.x, 1, [&](const Place& at) {
    return b.loop("c", s.channels, [&](const Expr& c) {
      const Stmt window = window_loop(b, s.y, "ky", at.row, [&](const Expr&, const Expr& iy) {
        return window_loop(b, s.x, "kx", at.column, [&](const Expr&, const Expr& ix) {
          const Expr element = b.load(op.in(0), {at.batch, iy, ix, c});
          return b.store(acc, {}, reduction.step(b.load(acc), element));
        });
      });
      const Expr count = (at.row.last - at.row.first) * (at.column.last - at.column.first);
      const Expr result = reduction.finish(b.load(acc), count);
      return tir::seq({b.store(acc, {}, reduction.start), window,
                       b.store(op.out(), {at.batch, at.oy, at.ox, c}, result)});
    });
  });
}

// Limits that a value of the type can exceed.
Range tightened(Range range, DataType type) {
  const Range whole = type_range(type), widest = type_range(DataType::Int32);
  if (range.low == whole.low) range.low = widest.low;
  if (range.high == whole.high) range.high = widest.high;
  return range;
}

Refusal refuses_pool(const OpView& view) {
  const auto& attrs = view.node.attrs<Pool2dAttrs>();
  if (view.in(0).type == Int16 && attrs.filter_h * attrs.filter_w > 65535)
    return "more than 65535 int16 are added up";
  return refuses_quantization(view);
}

Stmt lower_average_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  const DataType type = op.view.out().type;
  if (type == DataType::Float32) {
    const FloatRange range = activation_range(s.activation);
    return lower_pool(
        op, s,
        {type, tir::float_imm(0.0f), [](Expr acc, Expr element) { return acc + element; },
         [&](Expr acc, Expr count) {
           const Expr divisor = tir::cast(DataType::Float32, count);
           return clamp(tir::call(type, "intarsia_divide_f32", {acc, divisor}), range);
         }});
  }
  // An average lies within the type, so only an activation limits it.
  const Range range = tightened(activation_limits(op.view, s.activation), type);
  return lower_pool(
      op, s,
      {DataType::Int32, tir::int_imm(0),
       [](Expr acc, Expr element) { return acc + to_i32(element); },
       [&](Expr acc, Expr count) {
         const Expr mean = tir::call(DataType::Int32, "intarsia_divide_round_i32", {acc, count});
         return clamp(mean, range, type);
       }});
}

Stmt lower_l2_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  return lower_pool(op, s,
                    {DataType::Float32, tir::float_imm(0.0f),
                     [](Expr acc, Expr element) { return acc + element * element; },
                     [&](Expr acc, Expr count) {
                       const Expr mean = tir::call(DataType::Float32, "intarsia_divide_f32",
                                                   {acc, tir::cast(DataType::Float32, count)});
                       return clamp(tir::call(DataType::Float32, "intarsia_sqrt_f32", {mean}),
                                    activation_range(s.activation));
                     }});
}

Stmt lower_max_pool2d(OpLowering& op) {
  const PoolShape s = pool_shape(op.view);
  const DataType type = op.view.out().type;
  if (type == DataType::Float32) {
    const FloatRange range = activation_range(s.activation);
    return lower_pool(op, s,
                      {type, tir::float_imm(std::numeric_limits<float>::lowest()),
                       // Of what is not a number the second operand is taken, as of the reference.
                       [](Expr acc, Expr element) { return tir::max(element, acc); },
                       [&](Expr acc, Expr) { return clamp(acc, range); }});
  }
  const Range range = tightened(activation_limits(op.view, s.activation), type);
  return lower_pool(op, s,
                    {DataType::Int32, tir::int_imm(type_range(type).low),
                     [](Expr acc, Expr element) { return tir::max(acc, to_i32(element)); },
                     [&](Expr acc, Expr) { return clamp(acc, range, type); }});
}

row_tiling::RowWindow pool_rows(const OpView& v) {
  const auto& a = v.node.attrs<Pool2dAttrs>();
  return {a.filter_h, a.stride_h, 1, a.padding.top};
}

constexpr Operator kPoolingOperators[] = {
    {.kind = OpKind::AveragePool2d,
     .types = kNumber,
     .infer = infer_pool2d,
     .evaluate = eval_pool2d,
     .lower = lower_average_pool2d,
     .refuses = refuses_pool,
     .rows = pool_rows,
     .channels = each_channel},
    {.kind = OpKind::MaxPool2d,
     .types = kNumber,
     .infer = infer_pool2d,
     .evaluate = eval_pool2d,
     .lower = lower_max_pool2d,
     .refuses = refuses_pool,
     .rows = pool_rows,
     .channels = each_channel},
    {.kind = OpKind::L2Pool2d,
     .types = kReal,
     .infer = infer_pool2d,
     .evaluate = eval_pool2d,
     .lower = lower_l2_pool2d},
};

}  // namespace

std::span<const Operator> pooling_operators() {
  return kPoolingOperators;
}

}  // namespace intarsia::operators
