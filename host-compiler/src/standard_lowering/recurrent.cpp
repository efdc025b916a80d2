// SVDF and LSTM. State is a parameter that is read and written.
#include <algorithm>
#include <cmath>

#include "standard_lowering/families.h"

namespace intarsia::standard_lowering {

namespace {

using enum DataType;

float scale(const graph::Tensor& tensor) {
  return tensor.quantization.scale[0];
}
int64_t zero_point(const graph::Tensor& tensor) {
  return tensor.quantization.zero_point[0];
}

}  // namespace

Refusal refuses_svdf(const OpView& view) {
  if (Refusal types =
          refuses_types(view, {{{Int8, Int8, Int16, Int32, Int16}, Int8},
                               {{Int8, Int8, Int8, Int32, Int8}, Int8},
                               {{Float32, Float32, Float32, Float32, Float32}, Float32}}))
    return types;
  return std::nullopt;
}

Stmt lower_svdf(OpLowering& op) {
  const OpView& v = op.view;
  FuncBuilder& b = op.b;
  const auto& attrs = v.node.attrs<graph::SvdfAttrs>();
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

// ---- LSTM ---------------------------------------------------------------------------------------

namespace {

enum Gate : size_t { kInput, kForget, kCell, kOutput };
constexpr size_t kHiddenState = 13, kCellState = 14;

class Lstm {
 public:
  explicit Lstm(OpLowering& op) : op_(op), v_(op.view), b_(op.b) {
    const Shape& in = v_.in(0).shape;
    time_major_ = v_.node.attrs<graph::LstmAttrs>().time_major;
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
    const float product = scale(v_.in(from)) * scale(v_.in(weights));
    const Multiplier m = quantize_multiplier(static_cast<double>(product) / std::ldexp(1.0, -12));
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
    const graph::Tensor &hidden = v_.in(kHiddenState), &cell = v_.in(kCellState);
    const auto value = [&](size_t gate) { return b_.load(gates_[gate]); };
    const Expr old = b_.load(op_.in(kCellState), {n, unit});
    const float clip = v_.node.attrs<graph::LstmAttrs>().cell_clip;
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

}  // namespace

Refusal refuses_lstm(const OpView& view) {
  const auto combination = [](DataType x, DataType weights, DataType bias, DataType cell) {
    const DataType w = weights;
    return TypeCombination{{x, w, w, w, w, w, w, w, w, bias, bias, bias, bias, x, cell}, x};
  };
  return refuses_types(
      view, {combination(Int8, Int8, Int32, Int16), combination(Int16, Int8, Int64, Int16),
             combination(Float32, Float32, Float32, Float32)});
}

Stmt lower_lstm(OpLowering& op) {
  return Lstm(op).body();
}

}  // namespace intarsia::standard_lowering
