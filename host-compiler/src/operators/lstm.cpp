// LSTM. State as in svdf.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_functions.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/families.h"
#include "operators/state_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

Shapes infer_lstm(OpCheck& check) {
  const auto& a = check.node.attrs<LstmAttrs>();
  check.rank(0, 3, "input"), check.rank(1, 2, "input weights");
  check.require(std::isfinite(a.cell_clip) && a.cell_clip >= 0, "the cell clip is no limit");
  if (!check.ok()) return {};
  const Shape& input = check.in(0).shape;
  const int64_t batches = input[a.time_major ? 1 : 0], units = check.in(1).shape[0];
  for (size_t gate = 0; gate < 4; ++gate) {
    has_shape(check, 1 + gate, {units, input[2]}, "input weights of a gate");
    has_shape(check, 5 + gate, {units, units}, "recurrent weights of a gate");
    has_shape(check, 9 + gate, {units}, "bias of a gate");
  }
  is_state(check, 13, 1, batches * units, "hidden state");
  is_state(check, 14, 2, batches * units, "cell state");
  const Tensor &hidden = check.in(13), &cell = check.in(14);
  if (check.ok() && check.in(0).type != Float32) {
    const bool symmetric = check.in(0).type == Int16;
    check.per_tensor(check.in(0), "input", symmetric);
    check.per_tensor(hidden, "hidden state", symmetric);
    check.per_tensor(cell, "cell state", true);
    check.per_tensor(check.out(), "output", symmetric);
    for (size_t i = 1; i < 9; ++i) one_zero_scale(check, i, "weights of a gate");
    if (check.ok()) {
      const int most = symmetric ? kMostExponent64 : kMostExponent32;
      for (size_t gate = 0; gate < 4; ++gate) {
        check.factor(lstm_gate_factor(check.in(0), check.in(1 + gate)), most);
        check.factor(lstm_gate_factor(hidden, check.in(5 + gate)), most);
      }
      const int exponent = lstm_cell_exponent(cell);
      check.require(
          exponent >= -20 && exponent <= 1,
          fmt::format("the cell state's scale is near 2^{}, needs 2^-20 to 2^1", exponent));
    }
  }
  Shape output = input;
  output[2] = units;
  return {output, hidden.shape, cell.shape};
}

enum Gate : size_t { kInput, kForget, kCell, kOutput };

struct LstmShape {
  int64_t batches, steps, inputs, units;
  bool time_major;

  explicit LstmShape(const Invocation& call)
      : inputs(call.in(0).shape[2]),
        units(call.in(1).shape[0]),
        time_major(call.node.attrs<LstmAttrs>().time_major) {
    batches = call.in(0).shape[time_major ? 1 : 0];
    steps = call.in(0).shape[time_major ? 0 : 1];
  }
  // Which row of the sequence belongs to a step of a batch.
  int64_t row(int64_t batch, int64_t step) const {
    return time_major ? step * batches + batch : batch * steps + step;
  }
};

// T: activations; Sum: of the products, signed; Bias.
template <typename T, typename Sum, typename Bias>
class IntegerLstm {
 public:
  explicit IntegerLstm(const Invocation& call) : call_(call), s_(call) {
    for (size_t gate = 0; gate < 4; ++gate) {
      input_factor_[gate] = fixed_factor(lstm_gate_factor(call.in(0), call.in(1 + gate)));
      hidden_factor_[gate] = fixed_factor(lstm_gate_factor(call.in(13), call.in(5 + gate)));
    }
    const LstmFactors factors = lstm_factors(call.in(13), call.in(14));
    forget_ = fixed_factor(factors.forget), update_ = fixed_factor(factors.input);
    output_ = fixed_factor(factors.output);
    // The cell state in Q3.12; a negative shift keeps the bits it would lose.
    const int shift = factors.cell_exponent + 12;
    tanh_ = shift < 0 ? graph::SigmoidScaling{3, -shift} : graph::SigmoidScaling{3 << shift, 0};
    const float clip = call.node.attrs<LstmAttrs>().cell_clip;
    clip_ = clip > 0 ? static_cast<int32_t>(
                           std::min(static_cast<double>(clip) / scale_of(call.in(14)), 32767.0))
                     : 0;
  }

  void run() {
    const size_t state = static_cast<size_t>(s_.batches * s_.units);
    T* hidden = call_.result<T>(1);
    int16_t* cell = call_.result<int16_t>(2);
    std::copy_n(call_.data<T>(13), state, hidden);
    std::copy_n(call_.data<int16_t>(14), state, cell);
    for (int64_t batch = 0; batch < s_.batches; ++batch)
      for (int64_t step = 0; step < s_.steps; ++step) {
        const int64_t row = s_.row(batch, step);
        one_step(call_.data<T>(0) + row * s_.inputs, hidden + batch * s_.units,
                 cell + batch * s_.units);
        std::copy_n(hidden + batch * s_.units, s_.units, call_.result<T>() + row * s_.units);
      }
  }

 private:
  void one_step(const T* input, T* hidden, int16_t* cell) {
    const SigmoidTable& table = sigmoid_table();
    std::vector<int32_t> open(static_cast<size_t>(s_.units));  // the output gate
    for (int64_t i = 0; i < s_.units; ++i) {
      const int32_t forget = table.sigmoid(sum(kForget, i, input, hidden), 3, 0);
      const int32_t accept = table.sigmoid(sum(kInput, i, input, hidden), 3, 0);
      const int32_t candidate = table.tanh(sum(kCell, i, input, hidden), 3, 0);
      open[static_cast<size_t>(i)] = table.sigmoid(sum(kOutput, i, input, hidden), 3, 0);
      const int32_t kept = saturated_to_int16(multiply(forget * cell[i], forget_));
      const int32_t added = saturated_to_int16(multiply(accept * candidate, update_));
      int32_t value = saturated_to_int16(kept + added);
      if (clip_ > 0) value = std::clamp(value, -clip_, clip_);
      cell[i] = static_cast<int16_t>(value);
    }
    const int64_t zero = call_.in_zero_point(13);
    const graph::Range<int64_t> range = quantized_range<T>(Activation::None, call_.in(13));
    for (int64_t i = 0; i < s_.units; ++i) {
      const int32_t squashed = table.tanh(cell[i], tanh_.multiplier, tanh_.shift);
      hidden[i] =
          requantized<T>(multiply(squashed * open[static_cast<size_t>(i)], output_), zero, range);
    }
  }

  // A gate's argument in Q3.12.
  int32_t sum(size_t gate, int64_t unit, const T* input, const T* hidden) const {
    const Sum from_input = dot(input, 1 + gate, unit, s_.inputs, call_.in_zero_point(0)) +
                           static_cast<Sum>(call_.data<Bias>(9 + gate)[unit]);
    const Sum from_hidden = dot(hidden, 5 + gate, unit, s_.units, call_.in_zero_point(13));
    return saturated_to_int16(saturated_to_int16(multiply(from_input, input_factor_[gate])) +
                              saturated_to_int16(multiply(from_hidden, hidden_factor_[gate])));
  }

  Sum dot(const T* x, size_t weights, int64_t row, int64_t count, int64_t zero) const {
    const int8_t* w = call_.data<int8_t>(weights) + row * count;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += w[i] * (x[i] - zero);
    return static_cast<Sum>(sum);
  }

  const Invocation& call_;
  LstmShape s_;
  std::array<FixedFactor, 4> input_factor_, hidden_factor_;
  FixedFactor forget_, update_, output_;
  graph::SigmoidScaling tanh_{};
  int32_t clip_ = 0;
};

void lstm_of_floats(const Invocation& call) {
  const LstmShape s(call);
  const float clip = call.node.attrs<LstmAttrs>().cell_clip;
  float *hidden = call.result<float>(1), *cell = call.result<float>(2);
  const auto state = static_cast<size_t>(s.batches * s.units);
  std::copy_n(call.data<float>(13), state, hidden);
  std::copy_n(call.data<float>(14), state, cell);
  std::vector<float> next(static_cast<size_t>(s.units));
  for (int64_t batch = 0; batch < s.batches; ++batch)
    for (int64_t step = 0; step < s.steps; ++step) {
      const int64_t row = s.row(batch, step);
      const float* x = call.data<float>(0) + row * s.inputs;
      float *h = hidden + batch * s.units, *c = cell + batch * s.units;
      for (int64_t unit = 0; unit < s.units; ++unit) {
        const auto sum = [&](size_t gate) {
          float from_input = 0, from_hidden = 0;
          for (int64_t i = 0; i < s.inputs; ++i)
            from_input += x[i] * call.data<float>(1 + gate)[unit * s.inputs + i];
          for (int64_t i = 0; i < s.units; ++i)
            from_hidden += h[i] * call.data<float>(5 + gate)[unit * s.units + i];
          return from_input + call.data<float>(9 + gate)[unit] + from_hidden;
        };
        const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
        float value =
            sigmoid(sum(kForget)) * c[unit] + sigmoid(sum(kInput)) * std::tanh(sum(kCell));
        if (clip > 0) value = std::clamp(value, -clip, clip);
        c[unit] = value;
        next[static_cast<size_t>(unit)] = std::tanh(value) * sigmoid(sum(kOutput));
      }
      std::copy(next.begin(), next.end(), h);
      std::copy(next.begin(), next.end(), call.result<float>() + row * s.units);
    }
}

Result<void> eval_lstm(const Invocation& call) {
  if (call.type() == Float32)
    lstm_of_floats(call);
  else if (call.type() == Int8)
    IntegerLstm<int8_t, int32_t, int32_t>(call).run();
  else
    IntegerLstm<int16_t, int64_t, int64_t>(call).run();
  return {};
}

constexpr size_t kHiddenState = 13, kCellState = 14;

class Lstm {
 public:
  explicit Lstm(OpLowering& op) : op_(op), v_(op.view), b_(op.b) {
    const Shape& in = v_.in(0).shape;
    time_major_ = v_.node.attrs<LstmAttrs>().time_major;
    batches_ = in[time_major_ ? 1 : 0], steps_ = in[time_major_ ? 0 : 1];
    inputs_ = in[2], units_ = v_.in(1).shape[0];
    integer_ = is_integer(v_.out().type);
    sum_ = !integer_ ? Float32 : v_.out().type == Int16 ? Int64 : Int32;
  }

  Stmt body() {
    declare();
    return b_.loop("n", batches_, [&](const Expr& n) {
      return b_.loop("t", steps_, [&](const Expr& t) {
        const Expr row = time_major_ ? t * batches_ + n : n * steps_ + t;
        return b_.let("row", row, [&](const Expr& at) {
          const Stmt units = b_.loop("unit", units_, [&](const Expr& unit) {
            return tir::seq({gate(kForget, at, n, unit), gate(kInput, at, n, unit),
                             gate(kCell, at, n, unit), gate(kOutput, at, n, unit),
                             update(at, n, unit)});
          });
          // The gates read the hidden state of the step before until all of them are done.
          const Stmt keep = b_.loop("unit", units_, [&](const Expr& unit) {
            return b_.store(op_.in(kHiddenState), {n, unit}, b_.load(op_.out(), {at, unit}));
          });
          return tir::seq({units, keep});
        });
      });
    });
  }

 private:
  void declare() {
    const Shape state{batches_, units_};
    std::vector<std::optional<Shape>> shapes{Shape{batches_ * steps_, inputs_}};
    for (size_t i = 0; i < 4; ++i) shapes.emplace_back(Shape{units_, inputs_});
    for (size_t i = 0; i < 4; ++i) shapes.emplace_back(Shape{units_, units_});
    for (size_t i = 0; i < 4; ++i) shapes.emplace_back(Shape{units_});
    shapes.emplace_back(state), shapes.emplace_back(state);
    op_.declare(shapes, {batches_ * steps_, units_});
    acc_ = b_.register_("acc", sum_);
    hidden_acc_ = b_.register_("hidden_acc", sum_);
    static const char* const kNames[] = {"input_gate", "forget_gate", "candidate", "output_gate"};
    for (size_t i = 0; i < 4; ++i) gates_.push_back(b_.register_(kNames[i], value_type()));
    state_ = b_.register_("cell", value_type());
  }

  DataType value_type() const { return integer_ ? Int32 : Float32; }

  Expr product(const Expr& weight, const Expr& x, size_t input) const {
    if (!integer_) return weight * x;
    const Expr result = to_i32(weight) * (to_i32(x) - zero_point(v_.in(input)));
    return sum_ == Int64 ? tir::cast(Int64, result) : result;
  }

  // A sum in Q3.12.
  Expr scaled(BufferId acc, size_t from, size_t weights) const {
    const double product = static_cast<double>(scale(v_.in(from))) * scale(v_.in(weights));
    const Multiplier m = quantize_multiplier(product / std::ldexp(1.0, -12));
    const Expr sum = b_.load(acc);
    return clamp(sum_ == Int64 ? requantize_wide(sum, m) : requantize(sum, m), type_range(Int16),
                 Int32);
  }

  Stmt gate(size_t gate, const Expr& row, const Expr& n, const Expr& unit) {
    const Stmt from_input = b_.loop("i", inputs_, [&](const Expr& i) {
      return accumulate(
          b_, acc_, product(b_.load(op_.in(1 + gate), {unit, i}), b_.load(op_.in(0), {row, i}), 0));
    });
    const Stmt from_hidden = b_.loop("i", units_, [&](const Expr& i) {
      return accumulate(b_, hidden_acc_,
                        product(b_.load(op_.in(5 + gate), {unit, i}),
                                b_.load(op_.in(kHiddenState), {n, i}), kHiddenState));
    });
    const bool is_candidate = gate == kCell;
    Expr value;
    if (integer_) {
      const Expr sum =
          clamp(scaled(acc_, 0, 1 + gate) + scaled(hidden_acc_, kHiddenState, 5 + gate),
                type_range(Int16), Int32);
      value = squashed(is_candidate, sum, 3, 0);
    } else {
      value = tir::call(Float32, is_candidate ? "intarsia_tanh_f32" : "intarsia_logistic_f32",
                        {b_.load(acc_) + b_.load(hidden_acc_)});
    }
    const Expr zero = integer_ ? tir::int_imm(0, sum_) : tir::float_imm(0);
    return tir::seq({b_.store(acc_, {}, b_.load(op_.in(9 + gate), {unit})),
                     b_.store(hidden_acc_, {}, zero), from_input, from_hidden,
                     b_.store(gates_[gate], {}, value)});
  }

  static Expr squashed(bool by_tanh, const Expr& x, int64_t multiplier, int64_t shift) {
    return tir::call(Int32, by_tanh ? "intarsia_tanh_s16" : "intarsia_sigmoid_s16",
                     {x, tir::int_imm(multiplier), tir::int_imm(shift)});
  }

  Stmt update(const Expr& row, const Expr& n, const Expr& unit) {
    const Tensor &hidden = v_.in(kHiddenState), &cell = v_.in(kCellState);
    const auto value = [&](size_t gate) { return b_.load(gates_[gate]); };
    const Expr old = b_.load(op_.in(kCellState), {n, unit});
    const float clip = v_.node.attrs<LstmAttrs>().cell_clip;
    if (!integer_) {
      Expr fresh = value(kForget) * old + value(kInput) * value(kCell);
      if (clip > 0) fresh = clamp(fresh, FloatRange{-clip, clip});
      const Expr result =
          tir::call(Float32, "intarsia_tanh_f32", {b_.load(state_)}) * value(kOutput);
      return tir::seq({b_.store(state_, {}, fresh),
                       b_.store(op_.in(kCellState), {n, unit}, b_.load(state_)),
                       b_.store(op_.out(), {row, unit}, result)});
    }
    const double gate = std::ldexp(1.0, -15), cell_scale = static_cast<double>(scale(cell));
    const auto multiplied = [&](const Expr& a, const Expr& b, double factor) {
      return clamp(requantize(a * b, quantize_multiplier(factor)), type_range(Int16), Int32);
    };
    Expr fresh = clamp(multiplied(value(kForget), to_i32(old), gate * cell_scale / cell_scale) +
                           multiplied(value(kInput), value(kCell), gate * gate / cell_scale),
                       type_range(Int16), Int32);
    if (clip > 0) {
      const auto limit =
          static_cast<int64_t>(std::min(static_cast<double>(clip) / cell_scale, 32767.0));
      fresh = clamp(fresh, Range{-limit, limit}, Int32);
    }
    // The cell state's scale counts as the nearest power of two.
    const auto exponent =
        static_cast<int64_t>(std::round(std::log(scale(cell)) * (1.0f / std::log(2.0f))));
    const int64_t shift = exponent + 12;
    const Expr tanh = squashed(true, b_.load(state_), shift < 0 ? 3 : int64_t{3} << shift,
                               shift < 0 ? -shift : 0);
    const Multiplier output = quantize_multiplier(gate * gate / static_cast<double>(scale(hidden)));
    const Expr result = clamp(requantize(tanh * value(kOutput), output) + zero_point(hidden),
                              type_range(v_.out().type), v_.out().type);
    return tir::seq({b_.store(state_, {}, fresh),
                     b_.store(op_.in(kCellState), {n, unit}, tir::cast(Int16, b_.load(state_))),
                     b_.store(op_.out(), {row, unit}, result)});
  }

  OpLowering& op_;
  const OpView& v_;
  FuncBuilder& b_;
  bool time_major_ = false, integer_ = true;
  int64_t batches_ = 0, steps_ = 0, inputs_ = 0, units_ = 0;
  DataType sum_ = Int32;
  BufferId acc_, hidden_acc_, state_;
  std::vector<BufferId> gates_;
};

Stmt lower_lstm(OpLowering& op) {
  return Lstm(op).body();
}

int64_t lstm_macs(const Function& function, const Node& node) {
  const Shape& input = function.tensor(node.inputs[0]).shape;
  const Shape& weights = function.tensor(node.inputs[1]).shape;
  return input[0] * input[1] * 4 * weights[0] * (weights[1] + weights[0]);
}

// Input, 8 weights, 4 biases, hidden state, cell state -> output.
constexpr TypeRule lstm_types(DataType x, DataType w, DataType bias, DataType cell) {
  return {x, w, w, w, w, w, w, w, w, bias, bias, bias, bias, x, cell, x};
}
constexpr TypeRule kLstmTypes[] = {lstm_types(Int8, Int8, Int32, Int16),
                                   lstm_types(Int16, Int8, Int64, Int16),
                                   lstm_types(Float32, Float32, Float32, Float32)};

constexpr Operator kLstmOperators[] = {
    {.kind = OpKind::Lstm,
     .types = kLstmTypes,
     .infer = infer_lstm,
     .evaluate = eval_lstm,
     .lower = lower_lstm,
     .mac_count = lstm_macs,
     .keeps_state = true},
};

}  // namespace

std::span<const Operator> lstm_operators() {
  return kLstmOperators;
}

}  // namespace intarsia::operators
