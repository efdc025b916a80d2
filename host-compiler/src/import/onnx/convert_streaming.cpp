// Operators of networks that are run step by step: what they keep from one step to the next is an operand and a result.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <string>
#include <vector>

#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/stretches.h"

namespace intarsia::onnx {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

// What is written out for each step is as many operators.
constexpr int64_t kMostSteps = 256;

TensorId joined(Reader& in, const std::vector<TensorId>& parts, int64_t axis) {
  if (parts.size() == 1 || !in.ok()) return parts.front();
  return in.emit_alike(OpKind::Concat, graph::AxisAttrs{axis}, parts, "joined");
}

}  // namespace

// New steps are put into a cache at a place for each sample; a circular one goes on at its beginning.
void read_tensor_scatter(Reader& in) {
  const TensorId cache = in.operand(0), update = in.operand(1);
  const Shape shape = in.shape(cache), given = in.shape(update);
  const std::string mode = in.text("mode", "linear");
  const int64_t axis = in.axis(in.integer("axis", -2), shape.size());
  if (!in.ok() || !in.require(mode == "linear" || mode == "circular",
                              fmt::format("writes in the mode '{}'", tflite::printable(mode))))
    return;
  const auto along = static_cast<size_t>(axis);
  Shape expected = shape;
  expected[along] = given.size() == shape.size() ? given[along] : 0;
  if (!in.require(
          axis > 0 && given == expected && given[along] >= 1 && given[along] <= shape[along],
          fmt::format("writes [{}] into [{}] along axis {}", fmt::join(given, ","),
                      fmt::join(shape, ","), axis)))
    return;
  const int64_t samples = shape[0], steps = given[along], room = shape[along];
  // Only what may reach beyond the end is written step by step.
  const int64_t pieces = mode == "circular" && in.has(2) ? steps : 1;
  if (!in.require(samples * pieces <= kMostSteps,
                  fmt::format("writes {} steps of {} samples", pieces, samples)))
    return;
  const TensorId places = in.has(2) ? in.cast(in.operand(2), DataType::Int32)
                                    : filled(in, {samples}, DataType::Int32, 0);
  if (!in.ok() || !in.require(in.shape(places) == Shape{samples},
                              fmt::format("has the places [{}] for {} samples",
                                          fmt::join(in.shape(places), ","), samples)))
    return;
  const auto known = [&](int64_t value) {
    return filled(in, {1}, DataType::Int32, static_cast<double>(value));
  };
  std::vector<TensorId> results;
  for (int64_t sample = 0; sample < samples && in.ok(); ++sample) {
    TensorId all = stretch(in, cache, 0, sample, 1);
    const TensorId rows = stretch(in, update, 0, sample, 1),
                   place = stretch(in, places, 0, sample, 1);
    for (int64_t piece = 0; piece < pieces && in.ok(); ++piece) {
      TensorId at = place;
      if (mode == "circular") {
        at = in.emit_alike(OpKind::Add, BinaryAttrs{}, {place, known(piece)}, "place");
        at = in.emit_alike(OpKind::FloorMod, NoAttrs{}, {at, known(room)}, "place");
      }
      std::vector<TensorId> begin = {filled(in, {axis}, DataType::Int32, 0), at};
      if (along + 1 < shape.size())
        begin.push_back(filled(in, {std::ssize(shape) - axis - 1}, DataType::Int32, 0));
      const TensorId row = pieces == 1 ? rows : stretch(in, rows, along, piece, 1);
      all = in.emit_alike(OpKind::DynamicUpdateSlice, NoAttrs{}, {all, row, joined(in, begin, 0)});
    }
    results.push_back(all);
  }
  if (in.ok()) in.result(joined(in, results, 0));
}

// A convolution of each channel along a line that the state begins; the end of that line is the next state.
void read_causal_convolution(Reader& in) {
  const Shape shape = in.shape_of(0), weights = in.shape_of(1);
  if (!in.require(
          shape.size() == 3 && weights.size() == 3 && weights[0] == shape[1] && weights[1] == 1,
          fmt::format("has weights [{}] for an input [{}]", fmt::join(weights, ","),
                      fmt::join(shape, ","))))
    return;
  const std::string activation = in.text("activation", "none");
  const bool is_silu = activation == "silu" || activation == "swish";
  if (!in.require(is_silu || activation == "none",
                  fmt::format("has the activation '{}'", tflite::printable(activation))))
    return;
  const int64_t batch = shape[0], channels = shape[1], kept = weights[2] - 1;
  const auto lines = [&](TensorId id) { return in.transpose(id, {0, 2, 1}); };
  TensorId line = lines(in.operand(0));
  if (kept > 0) {
    const Shape state{batch, channels, kept};
    if (in.has(3) &&
        !in.require(in.shape_of(3) == state,
                    fmt::format("has the state [{}], not [{}]", fmt::join(in.shape_of(3), ","),
                                fmt::join(state, ","))))
      return;
    const TensorId before =
        in.has(3) ? lines(in.operand(3)) : filled(in, {batch, kept, channels}, kFloat, 0);
    line = joined(in, {before, line}, 1);
  }
  if (!in.ok()) return;
  const int64_t length = in.shape(line)[1];
  const TensorId filter =
      in.reshape(in.transpose(in.operand(1), {1, 2, 0}), {1, 1, kept + 1, channels});
  const TensorId bias = in.has(2) ? in.operand(2) : filled(in, {channels}, kFloat, 0);
  TensorId y = in.emit(OpKind::DepthwiseConv2d, graph::DepthwiseConv2dAttrs{},
                       {in.reshape(line, {batch, 1, length, channels}), filter, bias}, kFloat);
  if (!in.ok()) return;
  if (is_silu)
    y = in.emit(OpKind::Mul, BinaryAttrs{},
                {y, in.emit(OpKind::Logistic, NoAttrs{}, {y}, kFloat, {}, "gate")}, kFloat, {},
                "silu");
  if (!in.ok()) return;
  in.result(lines(in.reshape(y, {batch, shape[2], channels})));
  if (in.node().outputs.size() < 2 || in.node().outputs[1].empty()) return;
  if (kept == 0) return in.result_empty(1);
  in.result(1, {lines(stretch(in, line, 1, length - kept, kept)), Form::Plain, {}});
}

// Attention whose keys and values are summed up in a matrix for each head, S: each step adds k v', forgets by exp(decay), and reads q S.
// By the delta rule v' is beta (v - k S), so that what S had for that key is replaced.
void read_linear_attention(Reader& in) {
  const Shape queries = in.shape_of(0), keys = in.shape_of(1), values = in.shape_of(2);
  const int64_t heads = in.integer("kv_num_heads", 0), query_heads = in.integer("q_num_heads", 0);
  const std::string rule = in.text("update_rule", "gated_delta");
  const bool forgets = rule == "gated" || rule == "gated_delta",
             replaces = rule == "delta" || rule == "gated_delta";
  if (!in.require(forgets || replaces || rule == "linear",
                  fmt::format("has the rule '{}'", tflite::printable(rule))) ||
      !in.require(queries.size() == 3 && keys.size() == 3 && values.size() == 3 && heads >= 1 &&
                      query_heads >= 1 && query_heads % heads == 0 &&
                      queries[2] % query_heads == 0 && values[2] % heads == 0 &&
                      keys[2] == queries[2] / query_heads * heads && keys[1] == queries[1] &&
                      values[1] == queries[1],
                  fmt::format("asks [{}] of {} heads with keys [{}] and values [{}] of {}",
                              fmt::join(queries, ","), query_heads, fmt::join(keys, ","),
                              fmt::join(values, ","), heads)) ||
      !in.require(forgets == in.has(4) && replaces == in.has(5),
                  fmt::format("has operands that do not suit the rule '{}'", rule)) ||
      !in.require(queries[1] <= kMostSteps, fmt::format("takes {} steps at once", queries[1]),
                  "export the network for fewer steps, or for one"))
    return;
  const int64_t batch = queries[0], steps = queries[1], features = queries[2] / query_heads,
                results = values[2] / heads;
  const auto two = [&](OpKind kind, TensorId a, TensorId b) {
    return in.emit(kind, BinaryAttrs{}, {a, b}, kFloat, {}, "step");
  };
  const auto product = [&](TensorId a, TensorId b) {
    return in.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{}, {a, b}, kFloat, {}, "step");
  };
  // What is for one step, [batch, 1, ...], in another form.
  const auto of_step = [&](size_t operand, int64_t step, const Shape& form) {
    return in.reshape(stretch(in, in.operand(operand), 1, step, 1), form);
  };
  // A number for each head, or for each feature of a head.
  const auto factors = [&](size_t operand, int64_t step) -> TensorId {
    const Shape given = in.shape_of(operand);
    const int64_t count = given.size() == 3 ? given[2] : 0;
    if (!in.require(given.size() == 3 && given[1] == steps &&
                        (count == heads || count == heads * features || count == 1),
                    fmt::format("has an operand [{}] for {} heads of {} features",
                                fmt::join(given, ","), heads, features)))
      return {};
    const int64_t of_heads = count == 1 ? 1 : heads;
    return of_step(operand, step, {batch, of_heads, count / of_heads, 1});
  };
  const float stated = in.real("scale", 0);
  const TensorId scale =
      in.number(stated != 0 ? stated : 1 / std::sqrt(static_cast<float>(features)));
  const Shape matrix{batch, heads, features, results};
  if (in.has(3) && !in.require(in.shape_of(3) == matrix,
                               fmt::format("has the state [{}], not [{}]",
                                           fmt::join(in.shape_of(3), ","), fmt::join(matrix, ","))))
    return;
  TensorId state = in.has(3) ? in.operand(3) : filled(in, matrix, kFloat, 0);
  std::vector<TensorId> outputs;
  for (int64_t step = 0; step < steps && in.ok(); ++step) {
    if (forgets) {
      const TensorId kept = in.emit(OpKind::Exp, NoAttrs{}, {factors(4, step)}, kFloat, {}, "kept");
      if (!in.ok()) return;
      state = two(OpKind::Mul, state, kept);
    }
    const TensorId key = of_step(1, step, {batch, heads, features, 1});
    TensorId value = of_step(2, step, {batch, heads, 1, results});
    if (replaces) {
      const TensorId known = product(in.reshape(key, {batch, heads, 1, features}), state),
                     rate = factors(5, step);
      if (!in.ok()) return;
      value = two(OpKind::Mul, two(OpKind::Sub, value, known), rate);
    }
    state = two(OpKind::Add, state, two(OpKind::Mul, key, value));
    // Heads of keys serve several heads of queries each, which follow each other.
    const TensorId query = of_step(0, step, {batch, heads, query_heads / heads, features});
    const TensorId read = two(OpKind::Mul, product(query, state), scale);
    if (!in.ok()) return;
    outputs.push_back(in.reshape(read, {batch, 1, query_heads * results}));
  }
  if (!in.ok()) return;
  in.result(joined(in, outputs, 1));
  if (in.node().outputs.size() > 1 && !in.node().outputs[1].empty())
    in.result(1, {state, Form::Plain, {}});
}

}  // namespace intarsia::onnx
