// Float activations on integer weights where the operator is several of ours: transposed convolutions, SVDF, LSTM. Rows of the
// input, and of the hidden state at each step, are quantised as the model runs.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "import/loop_function.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using graph::TensorId;
using import::known;
using import::known_real;
using import::LoopFunction;
using import::real_of;
using import::truth_of;
using import::whole_of;
using import::zeros;

// [O,H,W,I] with rows and columns of each filter in reverse.
std::vector<uint8_t> turned_filters(const Shape& shape, const std::vector<int8_t>& weights) {
  const auto depth = static_cast<size_t>(shape[3]);
  const auto taps = static_cast<size_t>(shape[1] * shape[2]);
  std::vector<uint8_t> result(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t filter = i / (taps * depth), tap = i / depth % taps, channel = i % depth;
    result[(filter * taps + taps - 1 - tap) * depth + channel] = static_cast<uint8_t>(weights[i]);
  }
  return result;
}

// What one step of an LSTM needs beside its operands.
struct LstmLoop {
  int64_t steps, batches, units;
  float cell_clip;
  bool asymmetric;
  MadeConstant recurrent;  // of the gates input, forget, cell, output: [4 units, units]
};

struct LstmCarried {
  LstmCarried(LoopFunction& f, const LstmLoop& l)
      : step(f.input("step", whole_of({}))),
        gates(f.input("gates", real_of({l.steps, l.batches, 4 * l.units}))),
        hidden(f.input("hidden", real_of({l.batches, l.units}))),
        cell(f.input("cell", real_of({l.batches, l.units}))),
        results(f.input("results", real_of({l.steps, l.batches, l.units}))) {}
  TensorId step, gates, hidden, cell, results;
};

graph::Function lstm_goes_on(graph::Module& module, std::string name, const LstmLoop& loop) {
  LoopFunction f(module, std::move(name));
  const LstmCarried c(f, loop);
  const TensorId steps =
      f.constant(known<int32_t>("steps", DataType::Int32, {}, {static_cast<int32_t>(loop.steps)}));
  return f.finish({f.plain(OpKind::Less, {c.step, steps}, truth_of({}))});
}

graph::Function lstm_step(graph::Module& module, std::string name, const LstmLoop& loop) {
  LoopFunction f(module, std::move(name));
  const LstmCarried c(f, loop);
  const int64_t batches = loop.batches, units = loop.units;
  const graph::Tensor state = real_of({batches, units}), all = real_of({batches, 4 * units});
  const TensorId place = f.put(OpKind::Reshape, graph::ReshapeAttrs{{1}}, {c.step}, whole_of({1}));
  const TensorId now = f.put(OpKind::Gather, graph::GatherAttrs{0, 0}, {c.gates, place},
                             real_of({1, batches, 4 * units}));
  const TensorId from_input = f.put(OpKind::Reshape, graph::ReshapeAttrs{all.shape}, {now}, all);

  const std::vector<TensorId> rows = f.put_all(
      OpKind::QuantizeRows, graph::QuantizeRowsAttrs{batches, loop.asymmetric}, {c.hidden},
      {{.type = DataType::Int8, .shape = state.shape}, real_of({batches}), whole_of({batches})});
  const TensorId from_hidden =
      f.put(OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{},
            {rows[0], f.constant(loop.recurrent), TensorId{}, rows[1], rows[2]}, all);
  const TensorId sums = f.arithmetic(OpKind::Add, from_input, from_hidden, all);
  const std::vector<TensorId> gates =
      f.put_all(OpKind::Split, graph::SplitAttrs{1, {units, units, units, units}}, {sums},
                {state, state, state, state});
  const auto apply = [&](OpKind kind, TensorId x) { return f.plain(kind, {x}, state); };
  const auto times = [&](TensorId a, TensorId b) { return f.arithmetic(OpKind::Mul, a, b, state); };
  const TensorId kept = times(apply(OpKind::Logistic, gates[1]), c.cell);
  const TensorId added = times(apply(OpKind::Logistic, gates[0]), apply(OpKind::Tanh, gates[2]));
  TensorId cell = f.arithmetic(OpKind::Add, kept, added, state);
  if (loop.cell_clip > 0) {
    const TensorId most = f.constant(known_real("most", loop.cell_clip));
    const TensorId least = f.constant(known_real("least", -loop.cell_clip));
    cell = f.plain(OpKind::Maximum, {f.plain(OpKind::Minimum, {cell, most}, state), least}, state);
  }
  const TensorId hidden = times(apply(OpKind::Logistic, gates[3]), apply(OpKind::Tanh, cell));

  const TensorId begin = f.arithmetic(
      OpKind::Mul, place, f.constant(known<int32_t>("first_axis", DataType::Int32, {3}, {1, 0, 0})),
      whole_of({3}));
  const TensorId row = f.put(OpKind::Reshape, graph::ReshapeAttrs{{1, batches, units}}, {hidden},
                             real_of({1, batches, units}));
  const TensorId results = f.plain(OpKind::DynamicUpdateSlice, {c.results, row, begin},
                                   real_of({loop.steps, batches, units}));
  const TensorId one = f.constant(known<int32_t>("one", DataType::Int32, {}, {1}));
  const TensorId step = f.arithmetic(OpKind::Add, c.step, one, whole_of({}));
  return f.finish({step, c.gates, hidden, cell, results});
}

}  // namespace

// The product of the rows of the input with weights [O,I].
int32_t SubgraphReader::hybrid_product(const OperatorInfo& op, int32_t input, int32_t weights,
                                       int32_t bias, bool asymmetric) {
  const int64_t outputs = tensor(weights).shape[0], depth = tensor(weights).shape[1];
  const int64_t rows = element_count(tensor(input).shape) / depth;
  const auto [values, scales, zero_points] = quantised_rows(op.name, input, rows, asymmetric);
  return put(op, OpKind::HybridFullyConnected, graph::FullyConnectedAttrs{},
             {values, weights, bias, scales, zero_points}, real_of({rows, outputs}));
}

// Zeros between the elements of the input make it a convolution; what they are quantised to is zero.
void SubgraphReader::compose_hybrid_transposed(const OperatorInfo& op, const Draft& draft,
                                               bool asymmetric) {
  const auto& a = draft.node.attrs<graph::TransposeConv2dAttrs>();
  const Shape in = tensor(draft.inputs[0]).shape, kernel = tensor(draft.inputs[1]).shape;
  int32_t x = draft.inputs[0];
  Shape spread{in[0], in[1] * a.stride_h, in[2] * a.stride_w, in[3]};
  if (spread != in) {
    const Shape apart{in[0] * in[1], 1, in[2], 1, in[3]};
    const Shape padded{in[0] * in[1], a.stride_h, in[2], a.stride_w, in[3]};
    x = put(op, OpKind::Reshape, graph::ReshapeAttrs{apart}, {x}, real_of(apart));
    x = put(op, OpKind::Pad,
            graph::PadAttrs{{0, 0, 0, 0, 0}, {0, a.stride_h - 1, 0, a.stride_w - 1, 0}}, {x},
            real_of(padded));
    x = put(op, OpKind::Reshape, graph::ReshapeAttrs{spread}, {x}, real_of(spread));
  }
  graph::Conv2dAttrs conv;
  conv.activation = a.activation;
  conv.padding = {kernel[1] - 1 - a.pad_top, kernel[2] - 1 - a.pad_left,
                  a.out_h + a.pad_top - spread[1], a.out_w + a.pad_left - spread[2]};
  // Of the zeros behind the last element not all are needed.
  const auto cut = [&](int64_t& behind, size_t axis, int64_t stride) {
    if (behind >= 0) return true;
    if (-behind >= stride) return false;
    spread[axis] += behind;
    behind = 0;
    graph::SliceAttrs part{{0, 0, 0, 0}, spread, {1, 1, 1, 1}, {}};
    x = put(op, OpKind::Slice, part, {x}, real_of(spread));
    return true;
  };
  if (conv.padding.top < 0 || conv.padding.left < 0 || !cut(conv.padding.bottom, 1, a.stride_h) ||
      !cut(conv.padding.right, 2, a.stride_w))
    return problem(op, "makes less than its input reaches, on integer weights",
                   "give --widen-weights to make floats of them");
  graph::Tensor weights = tensor(draft.inputs[1]);
  std::vector<uint8_t> turned = turned_filters(kernel, unpacked(weights, bytes(draft.inputs[1])));
  weights.type = DataType::Int8;
  const int32_t filters = make({std::move(weights), std::move(turned)});
  const auto [values, scales, zero_points] = quantised_rows(op.name, x, in[0], asymmetric);
  put_last(op, OpKind::HybridConv2d, conv,
           {values, filters, draft.inputs.size() > 2 ? draft.inputs[2] : -1, scales, zero_points});
}

// Operands: input, weights of features [F,I] and of time [F,M], bias, state [B,F*M] with the newest last.
void SubgraphReader::compose_hybrid_svdf(const OperatorInfo& op, const Draft& draft,
                                         bool asymmetric) {
  const auto& a = draft.node.attrs<graph::SvdfAttrs>();
  const int32_t features = draft.inputs[1];
  const graph::Tensor& by_step = tensor(draft.inputs[2]);
  if (by_step.type != DataType::Float32 &&
      ((by_step.type != DataType::Int8 && by_step.type != DataType::Int4) ||
       !by_step.quantization.present() || bytes(draft.inputs[2]).empty()))
    return problem(op,
                   "has weights of time that are neither floats nor constants of i8 with a scale");
  const int32_t time = tensor(draft.inputs[2]).type == DataType::Float32 ? draft.inputs[2]
                                                                         : widened(draft.inputs[2]);
  const Shape in = tensor(draft.inputs[0]).shape, by_time = tensor(time).shape;
  const Shape kept = tensor(op.inputs[4]).shape, out = tensor(op.outputs[0]).shape;
  if (in.size() != 2 || tensor(features).shape.size() != 2 || by_time.size() != 2)
    return problem(op, "has operands that are no matrices");
  const int64_t batches = in[0], filters = by_time[0], memory = by_time[1];
  if (filters % a.rank != 0 || tensor(features).shape != Shape{filters, in[1]} ||
      kept != Shape{batches, filters * memory} || out != Shape{batches, filters / a.rank})
    return problem(op, "has operands whose shapes do not belong together");
  const int32_t now = hybrid_product(op, draft.inputs[0], features, -1, asymmetric);
  const VariableId id = remember(op, "state", real_of(kept));
  const auto shaped = [&](int32_t from, const Shape& shape) {
    return put(op, OpKind::Reshape, graph::ReshapeAttrs{shape}, {from}, real_of(shape));
  };
  const Shape whole{batches, filters, memory}, older{batches, filters, memory - 1};
  int32_t seen = shaped(now, {batches, filters, 1});
  if (memory > 1) {
    const int32_t before = shaped(value_of(id), whole);
    const int32_t left = put(op, OpKind::Slice, graph::SliceAttrs{{0, 0, 1}, older, {1, 1, 1}, {}},
                             {before}, real_of(older));
    seen = put(op, OpKind::Concat, graph::AxisAttrs{2}, {left, seen}, real_of(whole));
  } else {
    value_of(id);
  }
  values_[id] = shaped(seen, kept);
  const int32_t weighted = put(op, OpKind::Mul, graph::BinaryAttrs{}, {seen, time}, real_of(whole));
  const int32_t sums =
      put(op, OpKind::Sum, graph::ReduceAttrs{{2}, false}, {weighted}, real_of({batches, filters}));
  const int32_t ranks = put(op, OpKind::Sum, graph::ReduceAttrs{{2}, false},
                            {shaped(sums, {batches, out[1], a.rank})}, real_of(out));
  const int32_t bias =
      draft.inputs[3] >= 0 ? draft.inputs[3] : make(zeros("no_bias", DataType::Float32, {1}));
  put_last(op, OpKind::Add, graph::BinaryAttrs{a.activation}, {ranks, bias});
}

// The weights, or biases, of the four gates one below the other; weights keep their scales, row by row. -1 where they differ.
int32_t SubgraphReader::stacked(const OperatorInfo& op, std::span<const int32_t> gates) {
  if (std::ranges::any_of(gates, [&](int32_t id) { return id < 0 || tensor(id).shape.empty(); }))
    return -1;
  graph::Tensor all = tensor(gates[0]);
  const Shape one = all.shape;
  const bool is_real = all.type == DataType::Float32;
  all.name = op.name + (is_real ? "_biases" : "_weights");
  all.shape[0] *= 4;
  all.quantization = {};
  if (!is_real) all.type = DataType::Int8;
  std::vector<uint8_t> joined;
  for (const int32_t id : gates) {
    const graph::Tensor& part = tensor(id);
    const std::span<const uint8_t> data = bytes(id);
    const graph::Quantization& q = part.quantization;
    const bool is_alike = is_real ? part.type == DataType::Float32
                                  : (part.type == DataType::Int8 || part.type == DataType::Int4) &&
                                        q.scale.size() == 1 && q.zero_point[0] == 0;
    if (data.empty() || part.shape != one || !is_alike) return -1;
    if (is_real) {
      joined.insert(joined.end(), data.begin(), data.end());
      continue;
    }
    for (const int8_t weight : unpacked(part, data)) joined.push_back(static_cast<uint8_t>(weight));
    all.quantization.scale.insert(all.quantization.scale.end(), static_cast<size_t>(one[0]),
                                  q.scale[0]);
  }
  all.quantization.zero_point.assign(all.quantization.scale.size(), 0);
  return make({std::move(all), std::move(joined)});
}

// Operands: input; weights of the input and of the hidden state, and biases, for the gates input, forget, cell, output; states.
void SubgraphReader::compose_hybrid_lstm(const OperatorInfo& op, const Draft& draft,
                                         bool asymmetric) {
  const auto& a = draft.node.attrs<graph::LstmAttrs>();
  const std::span<const int32_t> operands = draft.inputs;
  const Shape in = tensor(operands[0]).shape, hidden = tensor(op.inputs[18]).shape;
  const bool is_matrix =
      tensor(operands[1]).shape.size() == 2 && tensor(operands[5]).shape.size() == 2;
  const int32_t weights = is_matrix ? stacked(op, operands.subspan(1, 4)) : -1;
  const int32_t recurrent = is_matrix ? stacked(op, operands.subspan(5, 4)) : -1;
  const int32_t biases = stacked(op, operands.subspan(9, 4));
  if (weights < 0 || recurrent < 0 || biases < 0)
    return problem(op, "has gates whose constants are not alike",
                   "int8 or int4 weights of one scale and float biases are possible; or give "
                   "--widen-weights");
  const int64_t units = tensor(recurrent).shape[1];
  const int64_t steps = in.size() == 3 ? in[a.time_major ? 0 : 1] : 0;
  const int64_t batches = in.size() == 3 ? in[a.time_major ? 1 : 0] : 0;
  if (in.size() != 3 || tensor(weights).shape != Shape{4 * units, in[2]} ||
      tensor(recurrent).shape[0] != 4 * units || tensor(biases).shape != Shape{4 * units} ||
      hidden != Shape{batches, units} || tensor(op.inputs[19]).shape != hidden)
    return problem(op, "has operands whose shapes do not belong together");
  // The loop begins with results of zeros, which are a constant.
  constexpr int64_t kMostResults = int64_t{1} << 24;
  if (steps * batches * units > kMostResults)
    return problem(op, fmt::format("makes {} results in {} steps", steps * batches * units, steps),
                   fmt::format("at most {} are possible; give it fewer steps", kMostResults));

  int32_t x = operands[0];
  const bool turns = !a.time_major && batches > 1;
  const Shape by_time{steps, batches, units};
  if (turns)
    x = put(op, OpKind::Transpose, graph::TransposeAttrs{{1, 0, 2}}, {x},
            real_of({steps, batches, in[2]}));
  const int32_t products = hybrid_product(op, x, weights, biases, asymmetric);
  const Shape gates{steps, batches, 4 * units};
  const int32_t from_input =
      put(op, OpKind::Reshape, graph::ReshapeAttrs{gates}, {products}, real_of(gates));

  const auto at = static_cast<size_t>(recurrent) - tensors_.count();
  const LstmLoop loop{steps, batches, units, a.cell_clip, asymmetric, made_[at]};
  graph::Module& module = model_.module();
  const std::string condition = model_.function_name(op.name + "_goes_on");
  const std::string body = model_.function_name(op.name + "_step");
  module.functions.push_back(lstm_goes_on(module, condition, loop));
  module.functions.push_back(lstm_step(module, body, loop));
  const VariableId kept_hidden = remember(op, "hidden", real_of(hidden));
  const VariableId kept_cell = remember(op, "cell", real_of(hidden));
  Draft run;
  run.node.kind = OpKind::While;
  run.node.name = unique_name(op.name + "_steps");
  run.node.attributes = graph::WhileAttrs{condition, body};
  run.inputs = {make(zeros("step", DataType::Int32, {})), from_input, value_of(kept_hidden),
                value_of(kept_cell), make(zeros("results", DataType::Float32, by_time))};
  for (const int32_t id : run.inputs) {
    graph::Tensor after = tensor(id);
    after.name = unique_name(op.name + "_after");
    after.constant = {}, after.variable = false;
    run.outputs.push_back(make({std::move(after), {}}));
  }
  values_[kept_hidden] = run.outputs[2], values_[kept_cell] = run.outputs[3];
  const int32_t results = run.outputs[4];
  drafts_.push_back(std::move(run));
  if (turns) return put_last(op, OpKind::Transpose, graph::TransposeAttrs{{1, 0, 2}}, {results});
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{tensor(op.outputs[0]).shape}, {results});
}

}  // namespace intarsia::tflite
