// Float activations on integer weights where the operator is several of ours: transposed convolutions and SVDF. Rows of the
// input are quantised as the model runs.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "import/loop_function.h"
#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;
using import::real_of;
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

// The weights, or biases, of gates one below the other; integers keep their scales, row by row. -1 where they differ.
int32_t SubgraphReader::stacked(const OperatorInfo& op, std::span<const int32_t> gates,
                                std::string_view what) {
  if (std::ranges::any_of(gates, [&](int32_t id) { return id < 0 || tensor(id).shape.empty(); }))
    return -1;
  graph::Tensor all = tensor(gates[0]);
  const Shape one = all.shape;
  const bool is_real = all.type == DataType::Float32;
  all.name = fmt::format("{}_{}", op.name, what);
  all.shape[0] *= std::ssize(gates);
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

}  // namespace intarsia::tflite
