// Mean, sum, product, extremes and logic over any set of axes, and the index of the extreme along one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/common_types.h"
#include "operators/families.h"
#include "operators/lowering/dims.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

// What a product of `count` integers is multiplied by after each of them, so that none leaves its 32 bits.
double product_factor(const Tensor& input, const Tensor& output, int64_t count) {
  return scale_of(input) / std::pow(scale_of(output), 1.0 / static_cast<double>(count));
}

bool is_product_of_integers(OpKind kind, DataType type) {
  return kind == OpKind::ReduceProd && (type == Int8 || type == Int16);
}

// Of quantised integers or floats: whole numbers have no scales.
bool adds_on_scales(OpKind kind, DataType type) {
  return kind == OpKind::Mean || (kind == OpKind::Sum && type != Int32);
}

Shapes infer_reduce(OpCheck& check) {
  const auto& a = check.node.attrs<ReduceAttrs>();
  const Tensor &input = check.in(0), &output = check.out();
  const bool sums = adds_on_scales(check.node.kind, input.type);
  if (sums && input.type != Float32 && check.per_tensor(input, "input") &&
      check.per_tensor(output, "output") && check.ok())
    check.factor(rescale_factor(input, output), kMostExponent32);
  const bool multiplies = is_product_of_integers(check.node.kind, input.type);
  if (multiplies) {
    check.per_tensor(input, "input");
    check.per_tensor(output, "output");
  }
  if (!sums && !multiplies)
    check.require(input.quantization == output.quantization,
                  "input and output have to have the same quantisation");

  const auto rank = static_cast<int64_t>(input.shape.size());
  const bool in_range = std::all_of(a.axes.begin(), a.axes.end(),
                                    [&](int64_t axis) { return axis >= 0 && axis < rank; });
  const bool ascending = std::adjacent_find(a.axes.begin(), a.axes.end(), [](int64_t x, int64_t y) {
                           return x >= y;
                         }) == a.axes.end();
  if (!check.require(in_range && ascending,
                     fmt::format("axes [{}] are not ascending numbers of 0 .. {}",
                                 fmt::join(a.axes, ","), rank - 1)))
    return {};
  Shape shape;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool reduced = std::binary_search(a.axes.begin(), a.axes.end(), axis);
    if (!reduced) shape.push_back(input.shape[static_cast<size_t>(axis)]);
    if (reduced && a.keep_dims) shape.push_back(1);
  }
  constexpr int kMostExponent64 = 7;  // of the factor of a 64-bit product
  if (multiplies && check.ok() && element_count(shape) > 0)
    check.factor(product_factor(input, output, element_count(input.shape) / element_count(shape)),
                 kMostExponent64);
  return {shape};
}

Shapes infer_arg(OpCheck& check) {
  const int64_t axis = check.node.attrs<AxisAttrs>().axis;
  Shape shape = check.in(0).shape;
  if (!check.require(axis >= 0 && axis < static_cast<int64_t>(shape.size()),
                     fmt::format("has the axis {} for rank {}", axis, shape.size())))
    return {};
  shape.erase(shape.begin() + axis);
  return {shape};
}

// For every element of the input the element of the output that it is reduced into.
std::vector<int64_t> reduced_places(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> stride(shape.size(), 0);  // of the output; 0 along reduced axes
  int64_t next = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(axis))) continue;
    stride[axis] = next;
    next *= shape[axis];
  }
  std::vector<int64_t> places(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      places[i] += rest % shape[axis] * stride[axis];
  }
  return places;
}

template <typename T>
void sum_integers(const Invocation& call, const std::vector<int64_t>& places, int64_t count) {
  const auto outputs = static_cast<size_t>(element_count(call.out().shape));
  std::vector<int32_t> sums(outputs);
  for (size_t i = 0; i < places.size(); ++i) {
    int32_t& sum = sums[static_cast<size_t>(places[i])];
    sum = wrapping_add(sum, call.data<T>(0)[i]);
  }
  FixedFactor factor = fixed_factor(rescale_factor(call.in(), call.out()));
  if (call.node.kind == OpKind::Mean) {
    // The division is part of the factor: shifted left as far as the count's size lets it keep
    // bits.
    int shift = 0;
    while (shift < 32 && (count >> (shift + 1)) != 0) ++shift;
    shift = std::min(shift, 31 + factor.shift);
    factor.value = static_cast<int32_t>((static_cast<int64_t>(factor.value) << shift) / count);
    factor.shift -= shift;
  }

  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  const auto zeros = static_cast<int32_t>(call.in_zero_point() * count);
  for (size_t i = 0; i < outputs; ++i)
    call.result<T>()[i] = requantized<T>(multiply(wrapping_sub(sums[i], zeros), factor),
                                         call.out_zero_point(), range);
}

// The first element, then each product with the next one, rescaled.
template <typename T>
void multiply_integers(const Invocation& call, const std::vector<int64_t>& places, int64_t count) {
  const auto outputs = static_cast<size_t>(element_count(call.out().shape));
  const FixedFactor factor = fixed_factor(product_factor(call.in(), call.out(), count));
  const auto zero = static_cast<int32_t>(call.in_zero_point());
  std::vector<int32_t> products(outputs);
  std::vector<bool> begun(outputs);
  for (size_t i = 0; i < places.size(); ++i) {
    const auto place = static_cast<size_t>(places[i]);
    const int64_t next = call.data<T>(0)[i] - zero;
    products[place] =
        begun[place] ? multiply(products[place] * next, factor) : static_cast<int32_t>(next);
    begun[place] = true;
  }
  const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  for (size_t i = 0; i < outputs; ++i)
    call.result<T>()[i] =
        requantized<T>(multiply(int64_t{products[i]}, factor), call.out_zero_point(), range);
}

Result<void> eval_reduce(const Invocation& call) {
  const std::vector<int64_t> places =
      reduced_places(call.in().shape, call.node.attrs<ReduceAttrs>().axes);
  const auto outputs = static_cast<size_t>(element_count(call.out().shape));
  const auto count = static_cast<int64_t>(places.size() / outputs);
  const auto extreme = [&]<typename T>(T) {
    const bool largest = call.node.kind == OpKind::ReduceMax;
    T* out = call.result<T>();
    // Rows of nothing but infinities, as masks of attention have them, are no finite number.
    constexpr bool kIsReal = std::numeric_limits<T>::has_infinity;
    constexpr T kMost =
        kIsReal ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    constexpr T kLeast = kIsReal ? -kMost : std::numeric_limits<T>::lowest();
    std::fill_n(out, outputs, largest ? kLeast : kMost);
    for (size_t i = 0; i < places.size(); ++i) {
      const T value = call.data<T>(0)[i];
      T& place = out[places[i]];
      place = largest ? std::max(place, value) : std::min(place, value);
    }
    return Result<void>();
  };
  const auto folded = [&]<typename T>(T start, auto&& step) {
    T* out = call.result<T>();
    std::fill_n(out, outputs, start);
    for (size_t i = 0; i < places.size(); ++i)
      out[places[i]] = step(out[places[i]], call.data<T>(0)[i]);
    return Result<void>();
  };
  if (call.node.kind == OpKind::ReduceAny)
    return folded(uint8_t{0}, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
  if (call.node.kind == OpKind::ReduceAll)
    return folded(uint8_t{1}, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
  if (is_product_of_integers(call.node.kind, call.type())) {
    if (call.type() == Int8)
      multiply_integers<int8_t>(call, places, count);
    else
      multiply_integers<int16_t>(call, places, count);
    return {};
  }
  if (call.node.kind == OpKind::ReduceProd)
    return call.type() == Int32
               ? folded(int32_t{1}, [](int32_t a, int32_t b) { return wrapping_mul(a, b); })
               : folded(1.0f, [](float a, float b) { return a * b; });
  if (call.node.kind == OpKind::ReduceMax || call.node.kind == OpKind::ReduceMin) {
    if (call.type() == Int8) return extreme(int8_t{});
    if (call.type() == Int16) return extreme(int16_t{});
    if (call.type() == Int32) return extreme(int32_t{});
    if (call.type() == Float32) return extreme(float{});
    return unsupported_types(call);
  }
  if (call.node.kind == OpKind::Sum && call.type() == Int32)
    return folded(int32_t{0}, [](int32_t a, int32_t b) { return wrapping_add(a, b); });
  if (call.type() == Int8) {
    sum_integers<int8_t>(call, places, count);
  } else if (call.type() == Int16) {
    sum_integers<int16_t>(call, places, count);
  } else if (call.type() == Float32) {
    auto* out = call.result<float>();
    std::fill_n(out, outputs, 0.0f);
    for (size_t i = 0; i < places.size(); ++i) out[places[i]] += call.data<float>(0)[i];
    if (call.node.kind == OpKind::Mean)
      for (size_t i = 0; i < outputs; ++i) out[i] /= static_cast<float>(count);
  } else {
    return unsupported_types(call);
  }
  return {};
}

template <typename T>
void arg(const Invocation& call) {
  const auto axis = static_cast<size_t>(call.node.attrs<AxisAttrs>().axis);
  const Shape& in = call.in().shape;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < in.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= in[i];
  const bool largest = call.node.kind == OpKind::ArgMax;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const T* column = call.data<T>(0) + o * in[axis] * inner + i;
      int32_t best = 0;
      for (int64_t k = 1; k < in[axis]; ++k) {
        const T value = column[k * inner], known = column[best * inner];
        if (largest ? value > known : value < known) best = static_cast<int32_t>(k);
      }
      call.result<int32_t>()[o * inner + i] = best;
    }
}

Result<void> eval_arg(const Invocation& call) {
  if (call.type() == Int8)
    arg<int8_t>(call);
  else if (call.type() == Int16)
    arg<int16_t>(call);
  else if (call.type() == Int32)
    arg<int32_t>(call);
  else if (call.type() == Float32)
    arg<float>(call);
  else
    return unsupported_types(call);
  return {};
}

Refusal refuses_reduce(const OpView& view) {
  const int64_t count = element_count(view.in(0).shape) / element_count(view.out().shape);
  const bool adds = adds_on_scales(view.node.kind, view.in(0).type);
  if (adds && view.in(0).type == Int16 && count > 65535)
    return "more than 65535 int16 are added up";
  const bool scales = adds || is_product_of_integers(view.node.kind, view.in(0).type);
  return scales ? refuses_quantization(view) : std::nullopt;
}

// What becomes of the elements that are reduced into one.
struct Reduction {
  Expr start;
  std::function<Expr(Expr acc, Expr element)> step;
  std::function<Expr(Expr acc)> finish;
  std::function<Expr(Expr element)> first =
      nullptr;  // of the first element, where it is none of the steps
};

Reduction reduction(const OpView& v, int64_t count) {
  const DataType type = v.out().type;
  const bool integer = is_integer(type);
  const OpKind kind = v.node.kind;
  const auto narrowed = [type](Expr x) { return x->type == type ? x : tir::cast(type, x); };
  if (kind == OpKind::ReduceAny || kind == OpKind::ReduceAll) {
    const bool is_any = kind == OpKind::ReduceAny;
    return {tir::int_imm(is_any ? 0 : 1),
            [is_any](Expr acc, Expr x) {
              const Expr one = tir::select(x, tir::int_imm(1), tir::int_imm(0));
              return is_any ? tir::max(acc, one) : tir::min(acc, one);
            },
            [](Expr acc) { return tir::binary(tir::BinaryOp::Ne, acc, tir::int_imm(0)); }};
  }
  if (is_product_of_integers(kind, type)) {
    const Multiplier m = quantize_multiplier(product_factor(v.in(0), v.out(), count));
    const int64_t from_zero = zero_point(v.in(0)), to_zero = zero_point(v.out());
    const auto wide = [](Expr x) { return tir::cast(DataType::Int64, std::move(x)); };
    return {tir::int_imm(0),
            [=](Expr acc, Expr x) {
              return requantize_wide(wide(std::move(acc)) * wide(std::move(x) - from_zero), m);
            },
            [=](Expr acc) {
              return clamp(requantize_wide(wide(std::move(acc)), m) + to_zero, type_range(type),
                           type);
            },
            [=](Expr x) { return std::move(x) - from_zero; }};
  }
  if (kind == OpKind::ReduceProd) {
    if (!integer) return {tir::float_imm(1), [](Expr acc, Expr x) { return acc * x; }, narrowed};
    return {tir::int_imm(1),
            [](Expr acc, Expr x) {
              const DataType wide = DataType::UInt32;  // products wrap around
              return tir::cast(DataType::Int32, tir::cast(wide, acc) * tir::cast(wide, x));
            },
            narrowed};
  }
  if (kind == OpKind::ReduceMax || kind == OpKind::ReduceMin) {
    const bool largest = kind == OpKind::ReduceMax;
    constexpr float kMost = std::numeric_limits<float>::infinity();
    const Expr start = !integer
                           ? tir::float_imm(largest ? -kMost : kMost)
                           : tir::int_imm(largest ? type_range(type).low : type_range(type).high);
    if (integer)
      return {start,
              [largest](Expr acc, Expr x) { return largest ? tir::max(acc, x) : tir::min(acc, x); },
              narrowed};
    // Of a NaN no comparison holds, and then the second operand is taken: what was found before it stays, as in the reference.
    return {start,
            [largest](Expr acc, Expr x) { return largest ? tir::max(x, acc) : tir::min(x, acc); },
            narrowed};
  }
  if (type == Int32)
    return {tir::int_imm(0),
            [](Expr acc, Expr x) {
              return tir::call(Int32, "intarsia_add_wrapping_i32", {std::move(acc), std::move(x)});
            },
            narrowed};
  const auto add = [](Expr acc, Expr x) { return acc + x; };
  if (!integer) {
    if (kind == OpKind::Sum) return {tir::float_imm(0), add, narrowed};
    const Expr divisor = tir::float_imm(static_cast<float>(count));
    return {tir::float_imm(0), add, [divisor](Expr acc) {
              return tir::call(DataType::Float32, "intarsia_divide_f32", {acc, divisor});
            }};
  }
  const Quantization &from = v.in(0).quantization, &to = v.out().quantization;
  const double in_scale = from.scale[0], out_scale = to.scale[0];
  const Multiplier m = kind == OpKind::Mean ? mean_multiplier(in_scale, out_scale, count)
                                            : quantize_multiplier(in_scale / out_scale);
  const int64_t zeros = from.zero_point[0] * count, zero = to.zero_point[0];
  return {tir::int_imm(0), add, [=](Expr acc) {
            return clamp(requantize(acc - zeros, m) + zero, type_range(type), type);
          }};
}

Stmt lower_reduce(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const Shape& in = v.in(0).shape;
  const std::vector<int64_t>& axes = v.node.attrs<ReduceAttrs>().axes;
  const auto reduced = [&](size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
  };
  // Runs of axes that are reduced or kept together; extents of the two kinds of loops.
  Shape extents, kept, summed;
  std::vector<bool> run_is_reduced;
  for (const size_t first :
       axis_runs(in.size(), [&](size_t axis) { return reduced(axis) == reduced(axis - 1); })) {
    int64_t extent = 1;
    for (size_t axis = first; axis < in.size() && reduced(axis) == reduced(first); ++axis) {
      extent *= in[axis];
    }
    extents.push_back(extent);
    run_is_reduced.push_back(reduced(first));
    (reduced(first) ? summed : kept).push_back(extent);
  }
  if (kept.empty()) kept = {1};
  op.declare({extents}, kept);

  const int64_t count = element_count(summed);
  const bool is_bool = v.out().type == DataType::Bool;
  const bool integer = is_integer(v.out().type) || is_bool;
  const BufferId acc = b.register_("acc", integer ? DataType::Int32 : DataType::Float32);
  const Reduction reduces = reduction(v, count);
  return nested_loops(b, kept, [&](const std::vector<Expr>& place) {
    const Stmt sum = nested_loops(b, summed, [&](const std::vector<Expr>& position) {
      std::vector<Expr> indices;
      size_t next_kept = 0, next_summed = 0;
      for (const bool is_reduced : run_is_reduced) {
        indices.push_back(is_reduced ? position[next_summed++] : place[next_kept++]);
      }
      const Expr loaded = b.load(op.in(0), indices);
      const Expr element = integer && !is_bool ? to_i32(loaded) : loaded;
      Expr next = reduces.step(b.load(acc), element);
      if (reduces.first) {
        Expr is_first = tir::int_imm(1, Bool);
        for (const Expr& at : position)
          is_first = tir::binary(tir::BinaryOp::And, is_first,
                                 tir::binary(tir::BinaryOp::Eq, at, tir::int_imm(0)));
        next = tir::select(is_first, reduces.first(element), next);
      }
      return b.store(acc, {}, next);
    });
    return tir::seq({b.store(acc, {}, reduces.start), sum,
                     b.store(op.out(), place, reduces.finish(b.load(acc)))});
  });
}

Stmt lower_arg(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto axis = static_cast<size_t>(v.node.attrs<AxisAttrs>().axis);
  const Shape& in = v.in(0).shape;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < in.size(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= in[i];
  op.declare({Shape{outer, in[axis], inner}}, {outer, inner});
  const BufferId best = b.register_("best", Int32), value = b.register_("value", v.in(0).type);
  const auto better = v.node.kind == OpKind::ArgMax ? tir::BinaryOp::Gt : tir::BinaryOp::Lt;
  const Expr zero = tir::int_imm(0);
  return b.loop("o", outer, [&](const Expr& o) {
    return b.loop("i", inner, [&](const Expr& i) {
      const Stmt search = b.loop("k", tir::int_imm(1), tir::int_imm(in[axis]), [&](const Expr& k) {
        const Expr here = b.load(op.in(0), {o, k, i});
        return tir::if_then(tir::binary(better, here, b.load(value)),
                            tir::seq({b.store(best, {}, k), b.store(value, {}, here)}));
      });
      std::vector<Stmt> steps{b.store(best, {}, zero),
                              b.store(value, {}, b.load(op.in(0), {o, zero, i}))};
      if (in[axis] > 1) steps.push_back(search);
      steps.push_back(b.store(op.out(), {o, i}, b.load(best)));
      return tir::seq(std::move(steps));
    });
  });
}

constexpr TypeRule kNumberOrInt32[] = {
    {Int8, Int8}, {Int16, Int16}, {Int32, Int32}, {Float32, Float32}};
constexpr TypeRule kArgTypes[] = {{Int8, Int32}, {Int16, Int32}, {Int32, Int32}, {Float32, Int32}};

// Where the channels themselves are not reduced.
ChannelRule reduced_channels(const Function& function, const Node& node) {
  const auto last = static_cast<int64_t>(function.tensor(node.inputs[0]).shape.size()) - 1;
  if (std::ranges::binary_search(node.attrs<ReduceAttrs>().axes, last)) return {};
  return each_channel(function, node);
}

constexpr Operator kReductionOperators[] = {
    {.kind = OpKind::Mean,
     .types = kNumber,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce,
     .channels = reduced_channels},
    {.kind = OpKind::Sum,
     .types = kNumberOrInt32,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce,
     .channels = reduced_channels},
    {.kind = OpKind::ReduceMax,
     .types = kNumberOrInt32,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce,
     .channels = reduced_channels},
    {.kind = OpKind::ReduceMin,
     .types = kNumberOrInt32,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce,
     .channels = reduced_channels},
    {.kind = OpKind::ReduceProd,
     .types = kNumberOrInt32,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce},
    {.kind = OpKind::ReduceAny,
     .types = kLogic,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce},
    {.kind = OpKind::ReduceAll,
     .types = kLogic,
     .infer = infer_reduce,
     .evaluate = eval_reduce,
     .lower = lower_reduce,
     .refuses = refuses_reduce},
    {.kind = OpKind::ArgMax,
     .types = kArgTypes,
     .infer = infer_arg,
     .evaluate = eval_arg,
     .lower = lower_arg},
    {.kind = OpKind::ArgMin,
     .types = kArgTypes,
     .infer = infer_arg,
     .evaluate = eval_arg,
     .lower = lower_arg},
};

}  // namespace

std::span<const Operator> reduction_operators() {
  return kReductionOperators;
}

}  // namespace intarsia::operators
