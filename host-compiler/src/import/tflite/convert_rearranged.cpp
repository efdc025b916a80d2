// Operators that put elements elsewhere or choose among them, and are several of ours.
#include <algorithm>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"

namespace intarsia::tflite {

using graph::OpKind;
using import::counting;

// The first elements of each sequence, as many as its length says, in reverse: gathered by indices that follow from the
// lengths, with batches along axis 0 and their sequences along axis 1, where a transposition brings them.
void SubgraphReader::compose_reverse_sequence(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::ReverseSequenceOptions>();
  if (options == nullptr) return;
  const graph::Tensor input = in.input(0);
  const graph::Tensor& lengths = in.input(1);
  const int64_t of_batch = in.axis(options->batch_axis(), input.shape.size());
  const int64_t of_steps = in.axis(options->sequence_axis(), input.shape.size());
  if (!in.clean()) return;
  if (of_batch == of_steps)
    return in.problem(fmt::format("reverses axis {} of batches along the same axis", of_steps));
  std::vector<int64_t> order{of_batch, of_steps}, back(input.shape.size());
  for (int64_t axis = 0; axis < static_cast<int64_t>(back.size()); ++axis)
    if (axis != of_batch && axis != of_steps) order.push_back(axis);
  Shape shape;
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    shape.push_back(input.shape[static_cast<size_t>(order[i])]);
  }
  const int64_t batch = shape[0], steps = shape[1];
  if (lengths.shape != Shape{batch} ||
      (lengths.type != DataType::Int32 && lengths.type != DataType::Int64))
    return in.problem(fmt::format("needs {} lengths, i32 or i64", batch));
  if (!can_be_made(in, steps, 1)) return;
  int32_t length = current(op.inputs[1]);
  if (lengths.type == DataType::Int64)
    length = put(op, OpKind::Cast, graph::NoAttrs{}, {length},
                 {.type = DataType::Int32, .shape = {batch}});
  length = put(op, OpKind::Reshape, graph::ReshapeAttrs{{batch, 1}}, {length},
               {.type = DataType::Int32, .shape = {batch, 1}});
  const Shape places{batch, steps};
  const int32_t forward = make(counting("steps", 2, 1, steps));
  const int32_t backward = make(counting("steps_back", 2, 1, steps, -1, -1));
  // length - 1 - step within the sequence, else step.
  const int32_t reversed = put(op, OpKind::Add, graph::BinaryAttrs{}, {length, backward},
                               {.type = DataType::Int32, .shape = places});
  const int32_t inside = put(op, OpKind::Less, graph::NoAttrs{}, {forward, length},
                             {.type = DataType::Bool, .shape = places});
  const int32_t from = put(op, OpKind::Select, graph::NoAttrs{}, {inside, reversed, forward},
                           {.type = DataType::Int32, .shape = places});
  const graph::GatherAttrs by_batch{1, 1};
  int32_t x = current(op.inputs[0]);
  if (order == back && std::ranges::is_sorted(order))
    return put_last(op, OpKind::Gather, by_batch, {x, from});
  graph::Tensor moved = input;
  moved.constant = {};
  moved.shape = shape;
  x = put(op, OpKind::Transpose, graph::TransposeAttrs{order}, {x}, moved);
  x = put(op, OpKind::Gather, by_batch, {x, from}, moved);
  put_last(op, OpKind::Transpose, graph::TransposeAttrs{back}, {x});
}

// SELECT, the older form: a condition of one axis chooses whole parts along the first axis, where SELECT_V2 repeats it along the last.
bool SubgraphReader::compose_chosen_parts(const OperatorInfo& op, OperatorReader& in) {
  const graph::Tensor& condition = in.input(0);
  const Shape& shape = in.output().shape;
  if (condition.shape.size() != 1 || shape.size() < 2 || condition.shape[0] != shape[0])
    return false;
  Shape spread(shape.size(), 1);
  spread[0] = shape[0];
  const int32_t parts = put(op, OpKind::Reshape, graph::ReshapeAttrs{spread},
                            {current(op.inputs[0])}, {.type = condition.type, .shape = spread});
  put_last(op, OpKind::Select, graph::NoAttrs{},
           {parts, current(op.inputs[1]), current(op.inputs[2])});
  return true;
}

// Elements with gaps between them, axis by axis: each element becomes the first of as many as the step says, and the last one's gap
// is cut off. `made` is like the elements, with the shape that they have and get. -1, and a problem, where that is too large.
int32_t SubgraphReader::put_gaps(const OperatorInfo& op, OperatorReader& in, graph::Tensor& made,
                                 int32_t fill, const std::vector<int64_t>& steps) {
  Shape whole = made.shape;
  int32_t x = current(op.inputs[0]);
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const int64_t step = steps[axis], extent = whole[axis];
    if (step == 1 || extent == 1) continue;
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < whole.size(); ++i)
      (i < axis ? outer : inner) *= i == axis ? 1 : whole[i];
    if (!can_be_made(in, outer * inner * extent, step)) return -1;
    const auto reshaped = [&](int32_t from, Shape shape) {
      made.shape = std::move(shape);
      return put(op, OpKind::Reshape, graph::ReshapeAttrs{made.shape}, {from}, made);
    };
    x = reshaped(x, {outer * extent, 1, inner});
    made.shape = {outer * extent, step, inner};
    x = put(op, OpKind::PadV2, graph::PadAttrs{{0, 0, 0}, {0, step - 1, 0}}, {x, fill}, made);
    x = reshaped(x, {outer, extent * step, inner});
    whole[axis] = (extent - 1) * step + 1;
    made.shape = {outer, whole[axis], inner};
    x = put(op, OpKind::Slice, graph::SliceAttrs{{0, 0, 0}, made.shape, {1, 1, 1}, {}}, {x}, made);
  }
  made.shape = whole;
  return x;
}

// Operands: the elements, a step for each axis, what the gaps hold.
void SubgraphReader::compose_dilate(const OperatorInfo& op, OperatorReader& in) {
  graph::Tensor made = in.input(0);
  const auto steps = in.integers(1, "its steps");
  if (!steps) return;
  if (steps->size() != made.shape.size() ||
      std::ranges::any_of(*steps, [](int64_t step) { return step < 1 || step > kLargestTensor; }))
    return in.problem(fmt::format("has the steps [{}] for [{}]", fmt::join(*steps, ","),
                                  fmt::join(made.shape, ",")),
                      "a step of 1 or more for each axis is possible");
  if (in.input(2).type != made.type || element_count(in.input(2).shape) != 1)
    return in.problem("fills gaps with something that is no element of its input");
  made.constant = {};
  const int32_t x = put_gaps(op, in, made, current(op.inputs[2]), *steps);
  if (x < 0) return;
  in.decide_shape(made.shape);
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{made.shape}, {x});
}

// StableHLO's padding, as JAX writes it: gaps, then elements in front and behind, of which negative ones are cut off. Operands: the
// elements, what is put there.
void SubgraphReader::compose_gapped_pad(const OperatorInfo& op, OperatorReader& in) {
  graph::Tensor made = in.input(0);
  const auto* options = op.raw->later_options_as_GappedPadOptions();
  if (options == nullptr) return in.problem("has no options that say how much it pads");
  const auto numbers = [](const auto* given) {
    return given == nullptr ? std::vector<int64_t>{}
                            : std::vector<int64_t>(given->begin(), given->end());
  };
  const std::vector<int64_t> before = numbers(options->before()), after = numbers(options->after());
  std::vector<int64_t> steps = numbers(options->between());
  const size_t rank = made.shape.size();
  const auto is_far = [](int64_t number) { return std::abs(number) >= kLargestTensor; };
  if (before.size() != rank || after.size() != rank || steps.size() != rank ||
      std::ranges::any_of(before, is_far) || std::ranges::any_of(after, is_far) ||
      std::ranges::any_of(steps, [&](int64_t gap) { return gap < 0 || is_far(gap); }))
    return in.problem(
        fmt::format("pads [{}] by [{}], [{}] and gaps of [{}]", fmt::join(made.shape, ","),
                    fmt::join(before, ","), fmt::join(after, ","), fmt::join(steps, ",")),
        "a number for each axis is possible, of gaps 0 or more");
  if (in.input(1).type != made.type || element_count(in.input(1).shape) != 1)
    return in.problem("pads with something that is no element of its input");
  for (int64_t& step : steps) ++step;
  made.constant = {};
  const int32_t fill = current(op.inputs[1]);
  int32_t x = put_gaps(op, in, made, fill, steps);
  if (x < 0) return;
  const Shape gapped = made.shape;
  x = put(op, OpKind::Reshape, graph::ReshapeAttrs{gapped}, {x}, made);
  graph::PadAttrs pad;
  graph::SliceAttrs cut;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t added_before = std::max<int64_t>(before[axis], 0),
                  added_after = std::max<int64_t>(after[axis], 0);
    pad.before.push_back(added_before), pad.after.push_back(added_after);
    made.shape[axis] += added_before + added_after;
    cut.begin.push_back(std::max<int64_t>(-before[axis], 0));
    cut.size.push_back(gapped[axis] + before[axis] + after[axis]);
    cut.stride.push_back(1);
    if (cut.size.back() < 1)
      return in.problem(fmt::format("cuts off all {} elements of axis {}", gapped[axis], axis));
  }
  if (!can_be_made(in, element_count(made.shape), 1)) return;
  x = put(op, OpKind::PadV2, pad, {x, fill}, made);
  in.decide_shape(cut.size);
  put_last(op, OpKind::Slice, cut, {x});
}

}  // namespace intarsia::tflite
