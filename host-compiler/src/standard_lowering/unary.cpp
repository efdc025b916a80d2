// Functions of single elements. Of int8 every one is a table of 256 results, filled by the reference
// evaluator as the model is compiled.
#include <cmath>

#include "intarsia/check.h"
#include "standard_lowering/broadcast.h"
#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

using graph::OpKind;
using tir::BinaryOp;
using enum DataType;

// What the operator makes of -128, -127, .. 127.
std::vector<uint8_t> all_results(const OpView& v) {
  graph::Module module;
  module.name = "table", module.entry = "main";
  graph::Function function;
  function.name = "main";
  function.tensors = {v.in(0), v.out()};
  for (graph::Tensor& tensor : function.tensors) tensor.shape = {256}, tensor.variable = false;
  graph::Node node = v.node;
  node.inputs = {graph::TensorId{0}}, node.outputs = {graph::TensorId{1}};
  function.inputs = node.inputs, function.outputs = node.outputs;
  function.nodes.push_back(std::move(node));
  module.functions.push_back(std::move(function));
  graph::TensorValue every(256);
  for (size_t i = 0; i < every.size(); ++i) every[i] = static_cast<uint8_t>(i + 128);
  graph::Evaluator evaluator(module);
  Result<std::vector<graph::TensorValue>> results = evaluator.run({every});
  INTARSIA_CHECK(results.ok(), "the evaluator computes what the rules admit");
  return (*results)[0];
}

Stmt lower_by_table(OpLowering& op) {
  const Shape flat{element_count(op.view.out().shape)};
  op.declare({flat}, flat);
  op.allow_in_place();
  const BufferId table = op.raw_table("table", op.view.out().type, {256}, all_results(op.view));
  return op.b.loop("i", flat[0], [&](const Expr& i) {
    const Expr place = to_i32(op.b.load(op.in(0), {i})) + 128;
    return op.b.store(op.out(), {i}, op.b.load(table, {place}));
  });
}

Expr call_f32(const char* name, const Expr& x) {
  return tir::call(Float32, name, {x});
}

Expr float_function(const graph::Node& node, const Expr& x) {
  const Expr zero = tir::float_imm(0);
  const auto negative = [&] { return tir::binary(BinaryOp::Lt, x, zero); };
  switch (node.kind) {
    case OpKind::LeakyRelu: {
      const float alpha = node.attrs<graph::LeakyReluAttrs>().alpha;
      return tir::select(tir::binary(BinaryOp::Gt, x, zero), x, x * tir::float_imm(alpha));
    }
    case OpKind::Logistic:
      return call_f32("intarsia_logistic_f32", x);
    case OpKind::Tanh:
      return call_f32("intarsia_tanh_f32", x);
    case OpKind::HardSwish: {
      const Expr gate = tir::min(tir::float_imm(6), tir::max(zero, x + tir::float_imm(3)));
      return tir::call(Float32, "intarsia_divide_f32", {x * gate, tir::float_imm(6)});
    }
    case OpKind::Elu:
      return tir::select(negative(), call_f32("intarsia_exp_f32", x) - tir::float_imm(1), x);
    case OpKind::Exp:
      return call_f32("intarsia_exp_f32", x);
    case OpKind::Log:
      return call_f32("intarsia_log_f32", x);
    case OpKind::Abs:
      return tir::select(negative(), zero - x, x);
    case OpKind::Neg:
      return tir::unary(tir::UnaryOp::Neg, x);
    case OpKind::Square:
      return x * x;
    case OpKind::Sqrt:
      return call_f32("intarsia_sqrt_f32", x);
    case OpKind::Rsqrt:
      return tir::call(Float32, "intarsia_divide_f32",
                       {tir::float_imm(1), call_f32("intarsia_sqrt_f32", x)});
    case OpKind::Sin:
      return call_f32("intarsia_sin_f32", x);
    case OpKind::Cos:
      return call_f32("intarsia_cos_f32", x);
    case OpKind::Ceil:
      return call_f32("intarsia_ceil_f32", x);
    case OpKind::Floor:
      return call_f32("intarsia_floor_f32", x);
    default:
      return call_f32("intarsia_round_even_f32", x);
  }
}

float scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}
int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}

Expr finished(const OpView& v, Expr value) {
  return clamp(std::move(value) + zero_point(v.out()), type_range(v.out().type), v.out().type);
}

Stmt lower_leaky_relu_s16(OpLowering& op) {
  const OpView& v = op.view;
  const float alpha = v.node.attrs<graph::LeakyReluAttrs>().alpha;
  const float in = scale(v.in(0)), out = scale(v.out());
  const Multiplier positive = quantize_multiplier(static_cast<double>(in / out));
  const Multiplier negative = quantize_multiplier(static_cast<double>(in * alpha / out));
  return map_elements(op, [&](Expr x) {
    const Expr value = to_i32(std::move(x)) - zero_point(v.in(0));
    return finished(v, tir::select(tir::binary(BinaryOp::Ge, value, tir::int_imm(0)),
                                   requantize(value, positive), requantize(value, negative)));
  });
}

Stmt lower_abs_s16(OpLowering& op) {
  const OpView& v = op.view;
  const Multiplier m = quantize_multiplier(static_cast<double>(scale(v.in(0)) / scale(v.out())));
  return map_elements(op, [&](Expr x) {
    const Expr value = to_i32(std::move(x)) - zero_point(v.in(0));
    const Expr magnitude = tir::max(value, tir::int_imm(0) - value);
    return finished(v, requantize(magnitude, m));
  });
}

}  // namespace

SigmoidScaling sigmoid_scaling(double input_scale, bool is_tanh) {
  int exponent = 0;
  const bool power = std::frexp(input_scale, &exponent) == 0.5;
  const int left = 11 + exponent;  // from the input's scale to 2^-12
  if (power && (left == 0 || (is_tanh && left == 1))) return {3 << left, 0};
  double multiplier = input_scale * 4096.0 * 3.0;
  int32_t shift = 0;
  for (; multiplier <= 32767.0 / 2.0 && shift <= 30; ++shift) multiplier *= 2.0;
  return {static_cast<int32_t>(multiplier), shift};
}

Refusal refuses_unary(const OpView& view) {
  using List = std::vector<TypeCombination>;
  const TypeCombination narrow{{Int8}, Int8}, wide{{Int16}, Int16}, real{{Float32}, Float32};
  const auto types = [&](OpKind kind) -> List {
    switch (kind) {
      case OpKind::LogicalNot:
        return {{{Bool}, Bool}};
      case OpKind::LeakyRelu:
      case OpKind::Logistic:
      case OpKind::Tanh:
      case OpKind::Abs:
        return {narrow, wide, real};
      case OpKind::HardSwish:
      case OpKind::Elu:
      case OpKind::Exp:
      case OpKind::Rsqrt:
        return {narrow, real};
      default:
        return {real};
    }
  };
  if (Refusal refusal = refuses_types(view, types(view.node.kind))) return refusal;
  if (view.out().type == Bool) return std::nullopt;
  return refuses_quantization(view);
}

Stmt lower_unary(OpLowering& op) {
  const OpView& v = op.view;
  const OpKind kind = v.node.kind;
  switch (v.in(0).type) {
    case Int8:
      return lower_by_table(op);
    case Bool:
      return map_elements(op, [](Expr x) { return tir::unary(tir::UnaryOp::Not, std::move(x)); });
    case Float32:
      return map_elements(op, [&](Expr x) { return float_function(v.node, x); });
    default:
      break;
  }
  if (kind == OpKind::LeakyRelu) return lower_leaky_relu_s16(op);
  if (kind == OpKind::Abs) return lower_abs_s16(op);
  const bool is_tanh = kind == OpKind::Tanh;
  const SigmoidScaling s = sigmoid_scaling(static_cast<double>(scale(v.in(0))), is_tanh);
  return map_elements(op, [&](Expr x) {
    const Expr result =
        tir::call(Int32, is_tanh ? "intarsia_tanh_s16" : "intarsia_sigmoid_s16",
                  {to_i32(std::move(x)), tir::int_imm(s.multiplier), tir::int_imm(s.shift)});
    return tir::cast(Int16, result);
  });
}

Refusal refuses_cast(const OpView& view) {
  const auto known = [](DataType type) {
    return type == Bool || type == Int8 || type == UInt8 || type == Int16 || type == Int32 ||
           type == Float32;
  };
  if (known(view.in(0).type) && known(view.out().type)) return std::nullopt;
  return refuses_types(view, {});
}

Stmt lower_cast(OpLowering& op) {
  const DataType from = op.view.in(0).type, to = op.view.out().type;
  return map_elements(op, [&](Expr x) -> Expr {
    if (from == to) return x;
    if (to == Bool) {
      const Expr zero = from == Float32 ? tir::float_imm(0) : tir::int_imm(0, from);
      return tir::binary(BinaryOp::Ne, x, zero);
    }
    if (from == Bool) x = tir::select(x, tir::int_imm(1), tir::int_imm(0));
    if (from == Float32) {
      const Expr whole = tir::call(Int32, "intarsia_truncate_f32", {x});
      return clamp(whole, type_range(to), to);
    }
    return x->type == to ? x : tir::cast(to, x);
  });
}

}  // namespace intarsia::standard_lowering
