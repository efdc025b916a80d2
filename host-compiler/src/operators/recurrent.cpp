// Recurrent layers of floats over whole sequences: LSTM, GRU and plain ones. Their state begins anew with each run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "operators/families.h"
#include "operators/scalar_functions.h"
#include "operators/state_checks.h"

namespace intarsia::operators {
namespace {

using namespace graph;
using enum DataType;

enum RecurrentOperand : size_t {
  kSequence,
  kInputWeights,
  kRecurrentWeights,
  kInputBias,
  kRecurrentBias,
  kFirstHidden,
  kFirstCell,
  kPeepholes
};

// Gates in the order of their weights.
enum LstmGate : int64_t { kInputGate, kOutputGate, kForgetGate, kCellGate };
enum GruGate : int64_t { kUpdateGate, kResetGate, kCandidate };

// 0: there is no such cell.
int64_t gates_of(const RecurrentAttrs& a) {
  return a.cell == "lstm" ? 4 : a.cell == "gru" ? 3 : a.cell == "rnn" ? 1 : 0;
}

struct RecurrentShape {
  int64_t steps, batches, inputs, gates, units;

  RecurrentShape(const Shape& input, const Shape& weights, const RecurrentAttrs& a)
      : steps(input[0]),
        batches(input[1]),
        inputs(input[2]),
        gates(gates_of(a)),
        units(weights[0] / gates) {}
};

Shapes infer_recurrent(OpCheck& check) {
  const auto& a = check.node.attrs<RecurrentAttrs>();
  const int64_t gates = gates_of(a);
  const bool is_lstm = a.cell == "lstm", is_gru = a.cell == "gru";
  check.require(gates != 0, fmt::format("is made of cells '{}'", a.cell),
                "lstm, gru and rnn are possible");
  for (const ScalarFunctionAttrs* function : {&a.gate, &a.candidate, &a.output}) {
    check.require(find_scalar_function(function->name) != nullptr,
                  fmt::format("has the function '{}'", function->name),
                  fmt::format("it can be {}", fmt::join(scalar_function_names(), ", ")));
    check.require(std::isfinite(function->alpha) && std::isfinite(function->beta),
                  fmt::format("has a function '{}' whose numbers are not finite", function->name));
  }
  check.require(std::isfinite(a.clip) && a.clip >= 0, "the clip is no limit");
  check.require(is_gru || !a.reset_after, "has a reset gate that only a gru has");
  check.require(is_lstm || !a.coupled, "has coupled gates, which only an lstm has");
  check.rank(kSequence, 3, "input"), check.rank(kInputWeights, 2, "input weights");
  if (!check.ok()) return {};
  const Shape &input = check.in(kSequence).shape, &weights = check.in(kInputWeights).shape;
  if (!check.require(weights[0] % gates == 0,
                     fmt::format("has {} rows of input weights for {} gates", weights[0], gates)))
    return {};
  const RecurrentShape s(input, weights, a);
  const auto fits = [&](RecurrentOperand operand, const Shape& shape, std::string_view name,
                        bool possible = true) {
    if (!check.has(operand)) return;
    check.require(possible, fmt::format("has the operand {} ({}), which its cells do not read",
                                        static_cast<size_t>(operand), name));
    has_shape(check, operand, shape, name);
  };
  fits(kInputWeights, {gates * s.units, s.inputs}, "input weights");
  fits(kRecurrentWeights, {gates * s.units, s.units}, "recurrent weights");
  fits(kInputBias, {gates * s.units}, "bias");
  fits(kRecurrentBias, {s.units}, "recurrent bias", a.reset_after);
  fits(kFirstHidden, {s.batches, s.units}, "hidden state");
  fits(kFirstCell, {s.batches, s.units}, "cell state", is_lstm);
  fits(kPeepholes, {3 * s.units}, "peepholes", is_lstm);
  Shapes shapes{{s.batches, s.units}};
  if (is_lstm) shapes.push_back({s.batches, s.units});
  if (a.sequence) shapes.push_back({s.steps, s.batches, s.units});
  const size_t count = check.node.outputs.size();
  check.require(count == shapes.size(),
                fmt::format("has {} outputs, needs {}", count, shapes.size()));
  for (size_t i = 1; i < std::min(count, shapes.size()); ++i)
    check.require(check.out(i).type == Float32, fmt::format("output {} is not of f32", i));
  return shapes;
}

// ---- reference results --------------------------------------------------------------------------

class RecurrentEvaluation {
 public:
  explicit RecurrentEvaluation(const Invocation& call)
      : call_(call),
        a_(call.node.attrs<RecurrentAttrs>()),
        s_(call.in(kSequence).shape, call.in(kInputWeights).shape, a_) {}

  void run() {
    const bool is_lstm = a_.cell == "lstm";
    const auto state = static_cast<size_t>(s_.batches * s_.units);
    const auto begin = [&](size_t operand, float* to) {
      if (call_.has(operand))
        std::copy_n(call_.data<float>(operand), state, to);
      else
        std::fill_n(to, state, 0.0f);
    };
    float *hidden = call_.result<float>(0), *cell = is_lstm ? call_.result<float>(1) : nullptr;
    begin(kFirstHidden, hidden);
    if (is_lstm) begin(kFirstCell, cell);
    float* all = a_.sequence ? call_.result<float>(is_lstm ? 2 : 1) : nullptr;
    for (int64_t i = 0; i < s_.steps; ++i) {
      const int64_t step = a_.reverse ? s_.steps - 1 - i : i;
      for (int64_t batch = 0; batch < s_.batches; ++batch) {
        const int64_t row = step * s_.batches + batch;
        float* h = hidden + batch * s_.units;
        one_step(call_.data<float>(kSequence) + row * s_.inputs, h,
                 is_lstm ? cell + batch * s_.units : nullptr);
        if (all != nullptr) std::copy_n(h, s_.units, all + row * s_.units);
      }
    }
  }

 private:
  void one_step(const float* x, float* h, float* cell) const {
    std::vector<float> next(static_cast<size_t>(s_.units));
    if (a_.cell == "lstm")
      for (int64_t unit = 0; unit < s_.units; ++unit) next[at(unit)] = lstm(x, h, cell[unit], unit);
    else if (a_.cell == "gru")
      gru(x, h, next);
    else
      for (int64_t unit = 0; unit < s_.units; ++unit)
        next[at(unit)] = apply(a_.candidate, sum(0, unit, x, h));
    std::ranges::copy(next, h);
  }

  float lstm(const float* x, const float* h, float& cell, int64_t unit) const {
    const auto peephole = [&](int64_t which, float state) {
      return call_.has(kPeepholes) ? call_.data<float>(kPeepholes)[which * s_.units + unit] * state
                                   : 0.0f;
    };
    const float accept = apply(a_.gate, sum(kInputGate, unit, x, h) + peephole(kInputGate, cell));
    const float keep =
        a_.coupled ? 1 - accept
                   : apply(a_.gate, sum(kForgetGate, unit, x, h) + peephole(kForgetGate, cell));
    cell = keep * cell + accept * apply(a_.candidate, sum(kCellGate, unit, x, h));
    const float open = apply(a_.gate, sum(kOutputGate, unit, x, h) + peephole(kOutputGate, cell));
    return open * apply(a_.output, cell, false);
  }

  void gru(const float* x, const float* h, std::vector<float>& next) const {
    std::vector<float> reset(next.size()), update(next.size()), shown(next.size());
    for (int64_t unit = 0; unit < s_.units; ++unit) {
      update[at(unit)] = apply(a_.gate, sum(kUpdateGate, unit, x, h));
      reset[at(unit)] = apply(a_.gate, sum(kResetGate, unit, x, h));
      shown[at(unit)] = reset[at(unit)] * h[unit];
    }
    for (int64_t unit = 0; unit < s_.units; ++unit) {
      float argument = from_input(kCandidate, unit, x);
      if (a_.reset_after) {
        const float bias =
            call_.has(kRecurrentBias) ? call_.data<float>(kRecurrentBias)[unit] : 0.0f;
        argument += reset[at(unit)] * (bias + from_hidden(kCandidate, unit, h));
      } else {
        argument += from_hidden(kCandidate, unit, shown.data());
      }
      next[at(unit)] =
          (1 - update[at(unit)]) * apply(a_.candidate, argument) + update[at(unit)] * h[unit];
    }
  }

  static size_t at(int64_t unit) { return static_cast<size_t>(unit); }

  float apply(const ScalarFunctionAttrs& function, float x, bool clips = true) const {
    if (clips && a_.clip > 0) x = std::clamp(x, -a_.clip, a_.clip);
    return find_scalar_function(function.name)->evaluate(x, function.alpha, function.beta);
  }
  float from_input(int64_t gate, int64_t unit, const float* x) const {
    const int64_t row = gate * s_.units + unit;
    return dot(x, call_.data<float>(kInputWeights) + row * s_.inputs, s_.inputs,
               call_.has(kInputBias) ? call_.data<float>(kInputBias)[row] : 0.0f);
  }
  float from_hidden(int64_t gate, int64_t unit, const float* h) const {
    const int64_t row = gate * s_.units + unit;
    return dot(h, call_.data<float>(kRecurrentWeights) + row * s_.units, s_.units, 0);
  }
  float sum(int64_t gate, int64_t unit, const float* x, const float* h) const {
    return from_input(gate, unit, x) + from_hidden(gate, unit, h);
  }
  static float dot(const float* a, const float* b, int64_t count, float first) {
    for (int64_t i = 0; i < count; ++i) first += a[i] * b[i];
    return first;
  }

  const Invocation& call_;
  const RecurrentAttrs& a_;
  const RecurrentShape s_;
};

Result<void> eval_recurrent(const Invocation& call) {
  RecurrentEvaluation(call).run();
  return {};
}

// ---- C ------------------------------------------------------------------------------------------

// All gates that read the state as it is have their sums formed in one nest of loops, so that the code stays as small
// for four gates as for one; what follows works unit by unit.
class RecurrentLowering {
 public:
  explicit RecurrentLowering(OpLowering& op)
      : op_(op),
        b_(op.b),
        a_(op.view.node.attrs<RecurrentAttrs>()),
        s_(op.view.in(kSequence).shape, op.view.in(kInputWeights).shape, a_),
        is_lstm_(a_.cell == "lstm"),
        is_gru_(a_.cell == "gru") {}

  Stmt body() {
    declare();
    const Stmt first = b_.loop("n", s_.batches, [&](const Expr& n) {
      return b_.loop("unit", s_.units, [&](const Expr& unit) {
        std::vector<Stmt> begin{b_.store(hidden_, {n, unit}, beginning(kFirstHidden, n, unit))};
        if (is_lstm_) begin.push_back(b_.store(cell_, {n, unit}, beginning(kFirstCell, n, unit)));
        return tir::seq(begin);
      });
    });
    const Stmt steps = b_.loop("t", s_.steps, [&](const Expr& t) {
      const Expr step = a_.reverse ? tir::int_imm(s_.steps - 1) - t : t;
      return b_.let("step", step, [&](const Expr& at) {
        return b_.loop("n", s_.batches, [&](const Expr& n) { return one_step(at, n); });
      });
    });
    return tir::seq({first, steps});
  }

 private:
  void declare() {
    const Shape state{s_.batches, s_.units};
    std::vector<std::optional<Shape>> inputs{Shape{s_.steps, s_.batches, s_.inputs},
                                             Shape{s_.gates, s_.units, s_.inputs},
                                             Shape{s_.gates, s_.units, s_.units},
                                             Shape{s_.gates, s_.units},
                                             Shape{s_.units},
                                             state,
                                             state,
                                             Shape{3, s_.units}};
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!op_.view.has(i)) inputs[i].reset();
    std::vector<Shape> outputs{state};
    if (is_lstm_) outputs.push_back(state);
    if (a_.sequence) outputs.push_back({s_.steps, s_.batches, s_.units});
    op_.declare(inputs, outputs);
    hidden_ = op_.out(0);
    if (is_lstm_) cell_ = op_.out(1);
    sums_ = b_.local("sums", Float32, {is_gru_ ? 2 : s_.gates, s_.units}, kFloatAlignment);
    if (is_gru_) next_ = b_.local("next", Float32, {s_.units}, kFloatAlignment);
    if (is_gru_ && !a_.reset_after)
      shown_ = b_.local("shown", Float32, {s_.units}, kFloatAlignment);
    acc_ = b_.register_("acc", Float32);
    if (a_.reset_after) hidden_acc_ = b_.register_("hidden_acc", Float32);
    value_ = b_.register_("value", Float32);
    if (is_lstm_) accept_ = b_.register_("accept", Float32);
  }

  Expr beginning(size_t operand, const Expr& n, const Expr& unit) const {
    return op_.view.has(operand) ? b_.load(op_.in(operand), {n, unit}) : tir::float_imm(0);
  }

  Stmt one_step(const Expr& step, const Expr& n) {
    std::vector<Stmt> parts{b_.loop("gate", is_gru_ ? 2 : s_.gates, [&](const Expr& gate) {
      return b_.loop("unit", s_.units, [&](const Expr& unit) {
        return tir::seq({add_input(gate, unit, step, n),
                         add_state(acc_, gate, unit,
                                   [&](const Expr& i) {
                                     return b_.load(hidden_, {n, i});
                                   }),
                         b_.store(sums_, {gate, unit}, b_.load(acc_))});
      });
    })};
    const auto each_unit = [&](auto&& make) { parts.push_back(b_.loop("unit", s_.units, make)); };
    if (is_gru_ && !a_.reset_after)
      each_unit([&](const Expr& unit) {
        return tir::seq({squash(a_.gate, sum(kResetGate, unit)),
                         b_.store(shown_, {unit}, b_.load(value_) * b_.load(hidden_, {n, unit}))});
      });
    if (is_gru_) each_unit([&](const Expr& unit) { return gru(unit, step, n); });
    each_unit([&](const Expr& unit) {
      std::vector<Stmt> update;
      if (is_lstm_) {
        update = lstm(unit, n);
      } else if (is_gru_) {
        update = {b_.store(hidden_, {n, unit}, b_.load(next_, {unit}))};
      } else {
        update = {squash(a_.candidate, sum(0, unit)),
                  b_.store(hidden_, {n, unit}, b_.load(value_))};
      }
      if (a_.sequence)
        update.push_back(
            b_.store(op_.out(is_lstm_ ? 2 : 1), {step, n, unit}, b_.load(hidden_, {n, unit})));
      return tir::seq(update);
    });
    return tir::seq(parts);
  }

  // acc = bias + weights * input of the step
  Stmt add_input(const Expr& gate, const Expr& unit, const Expr& step, const Expr& n) {
    const Expr bias =
        op_.view.has(kInputBias) ? b_.load(op_.in(kInputBias), {gate, unit}) : tir::float_imm(0);
    return tir::seq({b_.store(acc_, {}, bias), b_.loop("i", s_.inputs, [&](const Expr& i) {
                       return accumulate(b_, acc_,
                                         b_.load(op_.in(kInputWeights), {gate, unit, i}) *
                                             b_.load(op_.in(kSequence), {step, n, i}));
                     })});
  }
  template <typename State>
  Stmt add_state(BufferId acc, const Expr& gate, const Expr& unit, State&& state) {
    return b_.loop("i", s_.units, [&](const Expr& i) {
      return accumulate(b_, acc, b_.load(op_.in(kRecurrentWeights), {gate, unit, i}) * state(i));
    });
  }

  Expr sum(int64_t gate, const Expr& unit) const {
    return b_.load(sums_, {tir::int_imm(gate), unit});
  }

  // value = function(argument)
  Stmt squash(const ScalarFunctionAttrs& function, const Expr& argument, bool clips = true) {
    const Expr limited =
        clips && a_.clip > 0 ? clamp(argument, FloatRange{-a_.clip, a_.clip}) : argument;
    const Expr x = b_.load(value_);
    return tir::seq(
        {b_.store(value_, {}, limited),
         b_.store(value_, {},
                  find_scalar_function(function.name)->lower(x, function.alpha, function.beta))});
  }

  std::vector<Stmt> lstm(const Expr& unit, const Expr& n) {
    const Expr cell = b_.load(cell_, {n, unit}), value = b_.load(value_);
    const auto argument = [&](int64_t gate) {
      if (!op_.view.has(kPeepholes)) return sum(gate, unit);
      return sum(gate, unit) + b_.load(op_.in(kPeepholes), {tir::int_imm(gate), unit}) * cell;
    };
    std::vector<Stmt> steps{squash(a_.gate, argument(kInputGate)), b_.store(accept_, {}, value)};
    // The cell's own part, before the new one is added.
    if (a_.coupled) {
      steps.push_back(b_.store(sums_, {tir::int_imm(kForgetGate), unit},
                               (tir::float_imm(1) - b_.load(accept_)) * cell));
    } else {
      steps.push_back(squash(a_.gate, argument(kForgetGate)));
      steps.push_back(b_.store(sums_, {tir::int_imm(kForgetGate), unit}, value * cell));
    }
    steps.push_back(squash(a_.candidate, sum(kCellGate, unit)));
    steps.push_back(b_.store(cell_, {n, unit}, sum(kForgetGate, unit) + b_.load(accept_) * value));
    steps.push_back(squash(a_.gate, argument(kOutputGate)));
    steps.push_back(b_.store(accept_, {}, value));
    steps.push_back(squash(a_.output, cell, false));
    steps.push_back(b_.store(hidden_, {n, unit}, b_.load(accept_) * value));
    return steps;
  }

  Stmt gru(const Expr& unit, const Expr& step, const Expr& n) {
    const Expr gate = tir::int_imm(kCandidate), value = b_.load(value_);
    std::vector<Stmt> steps{add_input(gate, unit, step, n)};
    if (a_.reset_after) {
      const Expr bias = op_.view.has(kRecurrentBias) ? b_.load(op_.in(kRecurrentBias), {unit})
                                                     : tir::float_imm(0);
      steps.push_back(b_.store(hidden_acc_, {}, bias));
      steps.push_back(add_state(hidden_acc_, gate, unit, [&](const Expr& i) {
        return b_.load(hidden_, {n, i});
      }));
      steps.push_back(squash(a_.gate, sum(kResetGate, unit)));
      steps.push_back(accumulate(b_, acc_, value * b_.load(hidden_acc_)));
    } else {
      steps.push_back(
          add_state(acc_, gate, unit, [&](const Expr& i) { return b_.load(shown_, {i}); }));
    }
    steps.push_back(squash(a_.candidate, b_.load(acc_)));
    steps.push_back(b_.store(acc_, {}, value));
    steps.push_back(squash(a_.gate, sum(kUpdateGate, unit)));
    steps.push_back(b_.store(
        next_, {unit},
        (tir::float_imm(1) - value) * b_.load(acc_) + value * b_.load(hidden_, {n, unit})));
    return tir::seq(steps);
  }

  static constexpr int32_t kFloatAlignment = 4;

  OpLowering& op_;
  FuncBuilder& b_;
  const RecurrentAttrs& a_;
  const RecurrentShape s_;
  const bool is_lstm_, is_gru_;
  BufferId hidden_, cell_, sums_, next_, shown_, acc_, hidden_acc_, value_, accept_;
};

Stmt lower_recurrent(OpLowering& op) {
  return RecurrentLowering(op).body();
}

int64_t recurrent_macs(const Function& function, const Node& node) {
  const Shape& input = function.tensor(node.inputs[kSequence]).shape;
  const Shape& weights = function.tensor(node.inputs[kInputWeights]).shape;
  const Shape& recurrent = function.tensor(node.inputs[kRecurrentWeights]).shape;
  return input[0] * input[1] * weights[0] * (weights[1] + recurrent[1]);
}

constexpr TypeRule kRecurrentTypes[] = {
    {Float32, Float32, Float32, Float32, Float32, Float32, Float32, Float32, Float32}};

constexpr Operator kRecurrentOperators[] = {
    {.kind = OpKind::Recurrent,
     .types = kRecurrentTypes,
     .infer = infer_recurrent,
     .evaluate = eval_recurrent,
     .lower = lower_recurrent,
     .mac_count = recurrent_macs},
};

}  // namespace

std::span<const Operator> recurrent_operators() {
  return kRecurrentOperators;
}

}  // namespace intarsia::operators
