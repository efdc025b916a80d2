#include "import/tflite/sequence_step.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using graph::TensorId;
using import::known;
using import::known_real;
using import::LoopFunction;
using import::MadeConstant;
using import::real_of;
using import::truth_of;
using import::whole_of;

enum LayerGate : size_t { kInputGate, kForgetGate, kCellGate, kOutputGate };

// Writes one step into a function.
class StepWriter {
 public:
  StepWriter(LoopFunction& f, const SequenceCell& cell)
      : f_(f), c_(cell), state_(real_of({cell.batches, cell.units})) {}

  // The hidden state, and of an LSTM the cell state.
  std::vector<TensorId> write(TensorId from_input, TensorId hidden, TensorId cell) {
    const graph::Tensor all = real_of({c_.batches, c_.columns()});
    const TensorId from_hidden = product(hidden, c_.recurrent, TensorId{}, all);
    const TensorId sums = f_.arithmetic(OpKind::Add, from_input, from_hidden, all);
    if (!c_.is_lstm) return {squashed(sums)};
    const size_t first = kLstmGates - c_.gates;
    const std::vector<TensorId> parts =
        f_.put_all(OpKind::Split, graph::SplitAttrs{1, std::vector<int64_t>(c_.gates, c_.units)},
                   {sums}, std::vector<graph::Tensor>(c_.gates, state_));
    for (size_t gate = first; gate < kLstmGates; ++gate) sums_[gate] = parts[gate - first];

    const TensorId forget = opened(kForgetGate, cell);
    const TensorId kept = times(forget, cell);
    const TensorId candidate = squashed(argument(kCellGate, TensorId{}));
    const TensorId accept = first == 0 ? opened(kInputGate, cell) : less_than_one(forget);
    const TensorId added = times(accept, candidate);
    TensorId fresh = f_.arithmetic(OpKind::Add, kept, added, state_);
    if (c_.cell_clip > 0) fresh = clipped(fresh, c_.cell_clip, state_);
    const TensorId content = squashed(fresh);
    TensorId shown = times(opened(kOutputGate, fresh), content);
    if (c_.projection) {
      const graph::Tensor result = real_of({c_.batches, c_.outputs});
      const TensorId bias = c_.projection_bias ? f_.constant(*c_.projection_bias) : TensorId{};
      shown = product(shown, *c_.projection, bias, result);
      if (c_.projection_clip > 0) shown = clipped(shown, c_.projection_clip, result);
    }
    return {shown, fresh};
  }

 private:
  TensorId apply(OpKind kind, TensorId x) { return f_.plain(kind, {x}, state_); }
  TensorId times(TensorId a, TensorId b) { return f_.arithmetic(OpKind::Mul, a, b, state_); }
  TensorId opened(LayerGate gate, TensorId cell) {
    return apply(OpKind::Logistic, argument(gate, cell));
  }

  TensorId product(TensorId x, const MadeConstant& weights, TensorId bias,
                   const graph::Tensor& result) {
    const TensorId known_weights = f_.constant(weights);
    if (weights.tensor.type == DataType::Float32) {
      std::vector<TensorId> operands{x, known_weights};
      if (bias.valid()) operands.push_back(bias);
      return f_.put(OpKind::FullyConnected, graph::FullyConnectedAttrs{}, operands, result);
    }
    const Shape rows{c_.batches, weights.tensor.shape[1]};
    const std::vector<TensorId> made = f_.put_all(
        OpKind::QuantizeRows, graph::QuantizeRowsAttrs{c_.batches, c_.asymmetric, c_.together}, {x},
        {{.type = DataType::Int8, .shape = rows}, real_of({c_.batches}), whole_of({c_.batches})});
    return f_.put(OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{},
                  {made[0], known_weights, bias, made[1], made[2]}, result);
  }

  // What goes into a gate's function: its sum, with what its peephole sees of the cell, normalised.
  TensorId argument(LayerGate gate, TensorId cell) {
    TensorId sum = sums_[gate];
    if (c_.peepholes[gate])
      sum = f_.arithmetic(OpKind::Add, sum, times(cell, f_.constant(*c_.peepholes[gate])), state_);
    if (!c_.norms[gate]) return sum;
    const graph::Tensor row = real_of({c_.batches, 1});
    const auto mean = [&](TensorId x) {
      return f_.put(OpKind::Mean, graph::ReduceAttrs{{1}, true}, {x}, row);
    };
    const TensorId rest = f_.arithmetic(OpKind::Sub, sum, mean(sum), state_);
    const TensorId variance = f_.arithmetic(OpKind::Add, mean(times(rest, rest)),
                                            f_.constant(known_real("least_variance", 1e-8f)), row);
    const TensorId normal =
        f_.arithmetic(OpKind::Mul, rest, f_.plain(OpKind::Rsqrt, {variance}, row), state_);
    const TensorId scaled = times(normal, f_.constant(*c_.norms[gate]));
    return f_.arithmetic(OpKind::Add, scaled, f_.constant(*c_.norm_biases[gate]), state_);
  }

  TensorId less_than_one(TensorId x) {
    return f_.arithmetic(OpKind::Sub, f_.constant(known_real("one", 1)), x, state_);
  }
  TensorId clipped(TensorId x, float limit, const graph::Tensor& like) {
    const TensorId most = f_.constant(known_real("most", limit));
    const TensorId least = f_.constant(known_real("least", -limit));
    return f_.plain(OpKind::Maximum, {f_.plain(OpKind::Minimum, {x, most}, like), least}, like);
  }
  TensorId squashed(TensorId x) {
    const auto limited = [&](graph::Activation activation) {
      return f_.put(OpKind::Relu, graph::ReluAttrs{activation}, {x}, state_);
    };
    switch (c_.activation) {
      case format::Activation::Relu:
        return limited(graph::Activation::Relu);
      case format::Activation::ReluN1To1:
        return limited(graph::Activation::ReluN1To1);
      case format::Activation::Relu6:
        return limited(graph::Activation::Relu6);
      case format::Activation::Tanh:
        return apply(OpKind::Tanh, x);
      default:
        return x;
    }
  }

  LoopFunction& f_;
  const SequenceCell& c_;
  const graph::Tensor state_;
  std::array<TensorId, kLstmGates> sums_;
};

struct CarriedBySequence {
  CarriedBySequence(LoopFunction& f, const SequenceCell& c)
      : step(f.input("step", whole_of({}))),
        gates(f.input("gates", real_of({c.steps, c.batches, c.columns()}))),
        hidden(f.input("hidden", real_of({c.batches, c.outputs}))),
        cell(c.is_lstm ? f.input("cell", real_of({c.batches, c.units})) : TensorId{}),
        results(f.input("results", real_of({c.steps, c.batches, c.outputs}))) {}
  TensorId step, gates, hidden, cell, results;
};

}  // namespace

graph::Function sequence_step(graph::Module& module, std::string name, const SequenceCell& cell) {
  LoopFunction f(module, std::move(name));
  const TensorId gates = f.input("gates", real_of({cell.batches, cell.columns()}));
  const TensorId hidden = f.input("hidden", real_of({cell.batches, cell.outputs}));
  const TensorId kept =
      cell.is_lstm ? f.input("cell", real_of({cell.batches, cell.units})) : TensorId{};
  return f.finish(StepWriter(f, cell).write(gates, hidden, kept));
}

graph::Function sequence_goes_on(graph::Module& module, std::string name,
                                 const SequenceCell& cell) {
  LoopFunction f(module, std::move(name));
  const CarriedBySequence c(f, cell);
  const TensorId steps =
      f.constant(known<int32_t>("steps", DataType::Int32, {}, {static_cast<int32_t>(cell.steps)}));
  return f.finish({f.plain(OpKind::Less, {c.step, steps}, truth_of({}))});
}

graph::Function sequence_body(graph::Module& module, std::string name, const SequenceCell& cell) {
  LoopFunction f(module, std::move(name));
  const CarriedBySequence c(f, cell);
  const int64_t batches = cell.batches;
  TensorId at = c.step;
  if (cell.backwards) {
    const TensorId last = f.constant(
        known<int32_t>("last", DataType::Int32, {}, {static_cast<int32_t>(cell.steps - 1)}));
    at = f.arithmetic(OpKind::Sub, last, c.step, whole_of({}));
  }
  const TensorId place = f.put(OpKind::Reshape, graph::ReshapeAttrs{{1}}, {at}, whole_of({1}));
  const TensorId now = f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {c.gates, place},
                             real_of({1, batches, cell.columns()}));
  const graph::Tensor all = real_of({batches, cell.columns()});
  const TensorId from_input = f.put(OpKind::Reshape, graph::ReshapeAttrs{all.shape}, {now}, all);
  const std::vector<TensorId> states = StepWriter(f, cell).write(from_input, c.hidden, c.cell);

  const TensorId begin = f.arithmetic(
      OpKind::Mul, place, f.constant(known<int32_t>("first_axis", DataType::Int32, {3}, {1, 0, 0})),
      whole_of({3}));
  const Shape one_row{1, batches, cell.outputs};
  const TensorId row =
      f.put(OpKind::Reshape, graph::ReshapeAttrs{one_row}, {states[0]}, real_of(one_row));
  const TensorId results = f.plain(OpKind::DynamicUpdateSlice, {c.results, row, begin},
                                   real_of({cell.steps, batches, cell.outputs}));
  const TensorId one = f.constant(known<int32_t>("one", DataType::Int32, {}, {1}));
  const TensorId step = f.arithmetic(OpKind::Add, c.step, one, whole_of({}));
  std::vector<TensorId> outputs{step, c.gates};
  outputs.insert(outputs.end(), states.begin(), states.end());
  outputs.push_back(results);
  return f.finish(std::move(outputs));
}

}  // namespace intarsia::tflite
