// Kinds without a sliding window: elementwise, shape and reduction operators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/operator_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

template <typename Options>
graph::BinaryAttrs convert_binary(OperatorReader& in) {
  const auto* options = in.options<Options>();
  return {options ? in.activation(options->activation()) : graph::Activation::None};
}

// The bytes stay; the output tensor has the shape.
Converted convert_changed_rank(OperatorReader& in) {
  const Shape &from = in.input(0).shape, &to = in.output().shape;
  if (element_count(from) != element_count(to)) {
    in.problem(fmt::format("makes [{}] of [{}], which has another number of elements",
                           fmt::join(to, ","), fmt::join(from, ",")));
  }
  return {graph::ReshapeAttrs{to}, 1};
}

// With the extent that -1 stands for; empty when there is none such.
Shape with_missing_extent(const std::vector<int64_t>& asked, int64_t count) {
  Shape shape = asked;
  int64_t known = 1, missing = 0;
  for (const int64_t extent : asked) {
    if (extent == -1)
      ++missing;
    else if (extent < 1 || extent > count)
      return {};
    else if ((known *= extent) > count)
      return {};
  }
  if (missing > 1 || known < 1 || count % known != 0 || (missing == 0 && known != count)) return {};
  for (int64_t& extent : shape)
    if (extent == -1) extent = count / known;
  return shape;
}

// The output tensor has the whole shape; what the operator asks for must agree where it is known.
Converted convert_reshape(OperatorReader& in) {
  const Shape& shape = in.output().shape;
  std::optional<std::vector<int64_t>> asked;
  if (in.has_input(1)) {
    asked = in.integers(1, "its new shape");
  } else if (const auto* options = in.options<format::ReshapeOptions>()) {
    const std::span<const int32_t> stated = values(options->shape());
    if (options->shape() != nullptr) asked.emplace(stated.begin(), stated.end());
  }
  if (in.has_input(1) && !asked) return {graph::ReshapeAttrs{shape}, 1};
  if (asked && element_count(shape) != element_count(in.input(0).shape)) {
    // The file's shape stands for one that the converter did not know.
    const Shape whole = with_missing_extent(*asked, element_count(in.input(0).shape));
    if (!whole.empty() && in.is_dynamic_output()) {
      in.decide_shape(whole);
      return {graph::ReshapeAttrs{whole}, 1};
    }
  }
  if (asked) {
    const bool agrees = std::ranges::equal(
        *asked, shape, [](int64_t want, int64_t is) { return want == is || want == -1; });
    // Old converters wrote a scalar's shape as [0].
    const bool scalar = shape.empty() && *asked == std::vector<int64_t>{0};
    if (!agrees && !scalar) {
      in.problem(fmt::format("reshapes to [{}], but its output has shape [{}]",
                             fmt::join(*asked, ","), fmt::join(shape, ",")));
    }
  }
  if (element_count(shape) != element_count(in.input(0).shape)) {
    in.problem(fmt::format("reshapes [{}] to [{}], which has another number of elements",
                           fmt::join(in.input(0).shape, ","), fmt::join(shape, ",")));
  }
  return {graph::ReshapeAttrs{shape}, 1};
}

graph::SoftmaxAttrs convert_softmax(OperatorReader& in) {
  const auto* options = in.required_options<format::SoftmaxOptions>();
  const float beta = options ? options->beta() : 1.0f;
  if (!std::isfinite(beta) || beta <= 0) {
    in.problem(fmt::format("has beta {}, which must be positive", beta));
  }
  return {beta};
}

Converted convert_reduce(OperatorReader& in) {
  graph::ReduceAttrs attrs;
  if (const auto* options = in.options<format::ReducerOptions>()) {
    attrs.keep_dims = options->keep_dims();
  }
  const auto rank = static_cast<int64_t>(in.input(0).shape.size());
  const auto axes = in.integers(1, "its axes");
  if (!axes) return {attrs, 1};
  for (const int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) {
      in.problem(fmt::format("reduces axis {} of a tensor of rank {}", axis, rank),
                 rank == 0 ? "" : fmt::format("{} to {} are possible", -rank, rank - 1));
      return {attrs, 1};
    }
    attrs.axes.push_back(axis < 0 ? axis + rank : axis);
  }
  std::ranges::sort(attrs.axes);
  attrs.axes.erase(std::unique(attrs.axes.begin(), attrs.axes.end()), attrs.axes.end());
  return {attrs, 1};
}

graph::LeakyReluAttrs convert_leaky_relu(OperatorReader& in) {
  const auto* options = in.required_options<format::LeakyReluOptions>();
  const float alpha = options ? options->alpha() : 0.0f;
  if (!std::isfinite(alpha)) in.problem("has an alpha that is no number");
  return {alpha};
}

Converted convert_cumsum(OperatorReader& in) {
  graph::CumsumAttrs attrs;
  if (const auto* options = in.options<format::CumsumOptions>()) {
    attrs.exclusive = options->exclusive();
    attrs.reverse = options->reverse();
  }
  const auto axis = in.integers(1, "its axis");
  if (!axis) return {attrs, 1};
  if (axis->size() != 1) {
    in.problem(fmt::format("has {} axes, but takes 1", axis->size()));
    return {attrs, 1};
  }
  attrs.axis = in.axis(axis->front(), in.input(0).shape.size());
  return {attrs, 1};
}

Converted convert_arg(OperatorReader& in) {
  const auto axis = in.integers(1, "its axis");
  if (!axis) return {graph::AxisAttrs{}, 1};
  if (axis->size() != 1) {
    in.problem(fmt::format("has {} axes, but takes 1", axis->size()));
    return {graph::AxisAttrs{}, 1};
  }
  return {graph::AxisAttrs{in.axis(axis->front(), in.input(0).shape.size())}, 1};
}

graph::BatchMatmulAttrs convert_batch_matmul(OperatorReader& in) {
  const auto* options = in.options<format::BatchMatmulOptions>();
  if (options == nullptr) return {};
  return {options->adjoint_a(), options->adjoint_b()};
}

graph::ReluAttrs convert_relu(const OperatorReader& in) {
  if (in.op().type.starts_with("RELU6")) return {graph::Activation::Relu6};
  if (in.op().type.starts_with("RELU_N1_TO_1")) return {graph::Activation::ReluN1To1};
  return {graph::Activation::Relu};
}

}  // namespace

Converted convert_plain(OperatorReader& in) {
  switch (in.op().known->kind) {
    case OpKind::Add:
      return {convert_binary<format::AddOptions>(in)};
    case OpKind::Mul:
      return {convert_binary<format::MulOptions>(in)};
    case OpKind::Sub:
      return {convert_binary<format::SubOptions>(in)};
    case OpKind::Div:
      return {convert_binary<format::DivOptions>(in)};
    case OpKind::LeakyRelu:
      return {convert_leaky_relu(in)};
    case OpKind::ArgMax:
    case OpKind::ArgMin:
      return convert_arg(in);
    case OpKind::BatchMatmul:
      return {convert_batch_matmul(in)};
    case OpKind::Reshape:
      if (!in.op().type.starts_with("RESHAPE")) return convert_changed_rank(in);
      return convert_reshape(in);
    case OpKind::Softmax:
      return {convert_softmax(in)};
    case OpKind::Pad:
      return convert_pad(in);
    case OpKind::Mean:
    case OpKind::Sum:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceProd:
    case OpKind::ReduceAny:
    case OpKind::ReduceAll:
      return convert_reduce(in);
    case OpKind::Cumsum:
      return convert_cumsum(in);
    case OpKind::Relu:
      return {convert_relu(in)};
    default:
      if (std::optional<Converted> moved = convert_move(in)) return std::move(*moved);
      return {graph::NoAttrs{}};
  }
}

}  // namespace intarsia::tflite
