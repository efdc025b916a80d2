// Non-maximum suppression as a loop: the best box is taken, and what overlaps it too much is taken out. As LiteRT computes it: boxes
// whose scores are above the limit are counted before, no more than these are taken, and a box takes itself out because it
// overlaps itself. So one without an area, which overlaps nothing, is taken again and again.
#include <limits>

#include <fmt/ranges.h>

#include "import/box_overlaps.h"
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

// What the loop carries, in this order; `scores` only where they are an output.
struct Carried {
  explicit Carried(LoopFunction& f, int64_t boxes, int64_t most, bool with_scores)
      : step(f.input("step", whole_of({}))),
        candidates(f.input("candidates", whole_of({}))),
        found(f.input("found", truth_of({}))),
        rest(f.input("rest", real_of({boxes}))),
        low(f.input("low", real_of({boxes, 2}))),
        high(f.input("high", real_of({boxes, 2}))),
        areas(f.input("areas", real_of({boxes, 1}))),
        overlap(f.input("most_overlap", real_of({}))),
        least(f.input("least_score", real_of({}))),
        indices(f.input("indices", whole_of({most}))),
        count(f.input("count", whole_of({}))) {
    if (with_scores) scores = f.input("scores", real_of({most}));
  }
  TensorId step, candidates, found, rest, low, high, areas, overlap, least, indices, count, scores;
};

graph::Function condition_of(graph::Module& module, std::string name, int64_t boxes, int64_t most,
                             bool with_scores) {
  LoopFunction f(module, std::move(name));
  const Carried c(f, boxes, most, with_scores);
  const TensorId limit =
      f.constant(known<int32_t>("most", DataType::Int32, {}, {static_cast<int32_t>(most)}));
  const TensorId below = f.plain(OpKind::Less, {c.step, limit}, truth_of({}));
  const TensorId left = f.plain(OpKind::Less, {c.step, c.candidates}, truth_of({}));
  const TensorId goes_on = f.plain(OpKind::LogicalAnd, {left, c.found}, truth_of({}));
  return f.finish({f.plain(OpKind::LogicalAnd, {below, goes_on}, truth_of({}))});
}

// `sigma`: 0, or how fast the scores of what overlaps fall.
graph::Function body_of(graph::Module& module, std::string name, int64_t boxes, int64_t most,
                        bool with_scores, float sigma) {
  LoopFunction f(module, std::move(name));
  const Carried c(f, boxes, most, with_scores);
  const TensorId best =
      f.put(OpKind::ReduceMax, graph::ReduceAttrs{{0}, true}, {c.rest}, real_of({1}));
  const TensorId first = f.put(OpKind::ArgMax, graph::AxisAttrs{0}, {c.rest}, whole_of({}));
  const TensorId place = f.put(OpKind::Reshape, graph::ReshapeAttrs{{1}}, {first}, whole_of({1}));
  const TensorId found = f.plain(OpKind::Greater, {best, c.least}, truth_of({1}));

  const TensorId overlap = import::overlaps(f, {c.low, c.high, c.areas, boxes}, place);
  TensorId rest = c.rest;
  if (sigma > 0) {
    const TensorId square = f.arithmetic(OpKind::Mul, overlap, overlap, real_of({boxes}));
    const TensorId exponent = f.arithmetic(
        OpKind::Mul, square, f.constant(known_real("decay", -0.5f / sigma)), real_of({boxes}));
    rest = f.arithmetic(OpKind::Mul, rest, f.plain(OpKind::Exp, {exponent}, real_of({boxes})),
                        real_of({boxes}));
  }
  const TensorId too_near = f.plain(OpKind::GreaterEqual, {overlap, c.overlap}, truth_of({boxes}));
  const TensorId none = f.constant(known_real("none", -std::numeric_limits<float>::infinity()));
  rest = f.plain(OpKind::Select, {too_near, none, rest}, real_of({boxes}));

  std::vector<int32_t> numbers(static_cast<size_t>(most));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i);
  const TensorId slots = f.constant(known("slots", DataType::Int32, {most}, numbers));
  const TensorId here =
      f.plain(OpKind::LogicalAnd,
              {f.plain(OpKind::Equal, {slots, c.step}, truth_of({most})), found}, truth_of({most}));
  const TensorId indices = f.plain(OpKind::Select, {here, place, c.indices}, whole_of({most}));
  const TensorId one = f.constant(known<int32_t>("one", DataType::Int32, {}, {1}));
  const TensorId step = f.arithmetic(OpKind::Add, c.step, one, whole_of({}));
  const auto scalar = [&](TensorId id, graph::Tensor like) {
    return f.put(OpKind::Reshape, graph::ReshapeAttrs{{}}, {id}, std::move(like));
  };
  const TensorId goes_on = scalar(found, truth_of({}));
  const TensorId count = f.plain(OpKind::Select, {goes_on, step, c.count}, whole_of({}));
  std::vector<TensorId> results{step,    c.candidates, goes_on, rest,    c.low, c.high,
                                c.areas, c.overlap,    c.least, indices, count};
  if (with_scores)
    results.push_back(f.plain(OpKind::Select, {here, best, c.scores}, real_of({most})));
  return f.finish(std::move(results));
}

}  // namespace

// Operands: boxes by two corners in any order, scores, how many at most, limits of overlap and score, version 5 also sigma.
void SubgraphReader::compose_suppression(const OperatorInfo& op, OperatorReader& in) {
  const bool with_scores = op.code == kNON_MAX_SUPPRESSION_V5;
  constexpr int64_t kMostTaken = 4096;
  const graph::Tensor boxes = in.input(0), scores = in.input(1);
  if (boxes.type != DataType::Float32 || boxes.shape.size() != 2 || boxes.shape[1] != 4 ||
      scores.type != DataType::Float32 || scores.shape != Shape{boxes.shape[0]})
    return in.problem(fmt::format("takes boxes {}[{}] and scores {}[{}]", to_string(boxes.type),
                                  fmt::join(boxes.shape, ","), to_string(scores.type),
                                  fmt::join(scores.shape, ",")),
                      "boxes [N,4] and scores [N] of floats are possible");
  const auto most = in.integers(2, "how many boxes it takes at most");
  if (!most) return;
  if (most->size() != 1 || (*most)[0] < 1 || (*most)[0] > kMostTaken)
    return in.problem(fmt::format("takes [{}] boxes", fmt::join(*most, ",")),
                      fmt::format("1 to {} are possible", kMostTaken));
  float sigma = 0;
  for (size_t i = 3; i < op.inputs.size(); ++i)
    if (in.input(i).type != DataType::Float32 || element_count(in.input(i).shape) != 1)
      return in.problem(fmt::format("has a limit that is no float, its input {}", i));
  if (with_scores) {
    const std::span<const uint8_t> given = tensors_.data(op.inputs[5]);
    if (given.size() != sizeof sigma)
      return in.problem("has a sigma that is known only when the model runs",
                        "convert the model with a constant soft_nms_sigma");
    std::memcpy(&sigma, given.data(), sizeof sigma);
  }
  if (!(sigma >= 0)) return in.problem(fmt::format("has the sigma {}", sigma));
  const int64_t count = boxes.shape[0], slots = (*most)[0];
  for (size_t i = 0; i + 1 < op.outputs.size(); ++i)
    if (tensors_.is_dynamic(op.outputs[i])) tensors_.set_shape(op.outputs[i], {slots});
  if (in.output(0).shape != Shape{slots} || in.output(0).type != DataType::Int32)
    return in.problem(fmt::format("makes {}[{}] of {} boxes", to_string(in.output(0).type),
                                  fmt::join(in.output(0).shape, ","), slots));

  const auto corner = [&](int64_t begin) {
    return put(op, OpKind::Slice, graph::SliceAttrs{{0, begin}, {count, 2}, {1, 1}, {}},
               {current(op.inputs[0])}, real_of({count, 2}));
  };
  const int32_t a = corner(0), b = corner(2);
  const int32_t low = put(op, OpKind::Minimum, graph::NoAttrs{}, {a, b}, real_of({count, 2}));
  const int32_t high = put(op, OpKind::Maximum, graph::NoAttrs{}, {a, b}, real_of({count, 2}));
  const int32_t sides =
      put(op, OpKind::Sub, graph::BinaryAttrs{}, {high, low}, real_of({count, 2}));
  const int32_t areas =
      put(op, OpKind::ReduceProd, graph::ReduceAttrs{{1}, true}, {sides}, real_of({count, 1}));
  const auto limit = [&](size_t i) {
    const int32_t id = current(op.inputs[i]);
    return tensor(id).shape.empty()
               ? id
               : put(op, OpKind::Reshape, graph::ReshapeAttrs{{}}, {id}, real_of({}));
  };
  // The largest of scores that are all gone is the lowest number, which is no score.
  const int32_t overlap = limit(3);
  const int32_t least = put(
      op, OpKind::Maximum, graph::NoAttrs{},
      {limit(4), make(known_real("lowest", std::numeric_limits<float>::lowest()))}, real_of({}));
  const int32_t score = current(op.inputs[1]);
  const int32_t is_above =
      put(op, OpKind::Greater, graph::NoAttrs{}, {score, least}, truth_of({count}));
  const int32_t ones = put(op, OpKind::Cast, graph::NoAttrs{}, {is_above}, real_of({count}));
  const int32_t sum = put(op, OpKind::Sum, graph::ReduceAttrs{{0}, false}, {ones}, real_of({}));
  const int32_t candidates = put(op, OpKind::Cast, graph::NoAttrs{}, {sum}, whole_of({}));

  graph::Module& module = model_.module();
  const std::string condition = model_.function_name(op.name + "_goes_on");
  const std::string body = model_.function_name(op.name + "_step");
  module.functions.push_back(condition_of(module, condition, count, slots, with_scores));
  module.functions.push_back(body_of(module, body, count, slots, with_scores, sigma));

  Draft draft;
  draft.node.kind = OpKind::While;
  draft.node.name = op.name;
  draft.node.attributes = graph::WhileAttrs{condition, body};
  draft.inputs = {make(zeros("step", DataType::Int32, {})),
                  candidates,
                  make(known<uint8_t>("found", DataType::Bool, {}, {1})),
                  score,
                  low,
                  high,
                  areas,
                  overlap,
                  least,
                  make(zeros("indices", DataType::Int32, {slots})),
                  make(zeros("count", DataType::Int32, {}))};
  if (with_scores) draft.inputs.push_back(make(zeros("scores", DataType::Float32, {slots})));
  for (const int32_t id : draft.inputs) {
    graph::Tensor after = tensor(id);
    after.name = unique_name(op.name + "_after");
    after.constant = {}, after.variable = false;
    draft.outputs.push_back(make({std::move(after), {}}));
  }
  draft.outputs[9] = op.outputs[0];
  draft.outputs[10] = op.outputs.back();
  if (with_scores) draft.outputs[11] = op.outputs[1];
  drafts_.push_back(std::move(draft));
}

}  // namespace intarsia::tflite
