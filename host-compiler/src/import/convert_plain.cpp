// Kinds without a sliding window: elementwise, shape and reduction operators.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "import/operator_reader.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

graph::BinaryAttrs convert_add(OperatorReader& in) {
  const auto* options = in.options<format::AddOptions>();
  return {options ? in.activation(options->activation()) : graph::Activation::None};
}

graph::BinaryAttrs convert_mul(OperatorReader& in) {
  const auto* options = in.options<format::MulOptions>();
  return {options ? in.activation(options->activation()) : graph::Activation::None};
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

Converted convert_pad(OperatorReader& in) {
  graph::PadAttrs attrs;
  const size_t rank = in.input(0).shape.size();
  const Shape& shape = in.input(1).shape;
  const auto amounts = in.integers(1, "its padding");
  if (!amounts) return {attrs, 1};
  if (shape != Shape{static_cast<int64_t>(rank), 2}) {
    in.problem(fmt::format("needs one pair of amounts per axis, [{},2], but {} has shape [{}]",
                           rank, in.input_label(1), fmt::join(shape, ",")));
    return {attrs, 1};
  }
  for (size_t axis = 0; axis < rank; ++axis) {
    attrs.before.push_back((*amounts)[2 * axis]);
    attrs.after.push_back((*amounts)[2 * axis + 1]);
  }
  const bool possible = std::ranges::all_of(
      *amounts, [](int64_t amount) { return amount >= 0 && amount <= kLargestTensor; });
  if (!possible) {
    in.problem(fmt::format("pads by [{}]; amounts must be 0 or more and fit memory",
                           fmt::join(*amounts, ",")));
  }
  return {attrs, 1};
}

Converted convert_mean(OperatorReader& in) {
  graph::ReduceAttrs attrs;
  if (const auto* options = in.options<format::ReducerOptions>()) {
    attrs.keep_dims = options->keep_dims();
  }
  const auto rank = static_cast<int64_t>(in.input(0).shape.size());
  const auto axes = in.integers(1, "its axes");
  if (!axes) return {attrs, 1};
  for (const int64_t axis : *axes) {
    if (axis < -rank || axis >= rank) {
      in.problem(fmt::format("reduces axis {} of a tensor of rank {}", axis, rank));
      return {attrs, 1};
    }
    attrs.axes.push_back(axis < 0 ? axis + rank : axis);
  }
  std::ranges::sort(attrs.axes);
  attrs.axes.erase(std::unique(attrs.axes.begin(), attrs.axes.end()), attrs.axes.end());
  return {attrs, 1};
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
      return {convert_add(in)};
    case OpKind::Mul:
      return {convert_mul(in)};
    case OpKind::Reshape:
      return convert_reshape(in);
    case OpKind::Softmax:
      return {convert_softmax(in)};
    case OpKind::Pad:
      return convert_pad(in);
    case OpKind::Mean:
      return convert_mean(in);
    case OpKind::Relu:
      return {convert_relu(in)};
    default:
      return {graph::NoAttrs{}};
  }
}

}  // namespace intarsia::tflite
