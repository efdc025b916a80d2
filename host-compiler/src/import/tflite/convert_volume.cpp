// Convolutions of volumes: the planes that a window covers become channels, and a convolution of images does the rest.
#include <algorithm>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"
#include "import/tflite/window_padding.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

// [KD, KH, KW, C, O] -> [O, KH, KW, KD * C]
std::vector<uint8_t> by_plane(std::span<const uint8_t> from, const Shape& s) {
  constexpr size_t kWidth = 4;
  std::vector<uint8_t> to(from.size());
  const auto at = [&](int64_t element) { return static_cast<size_t>(element) * kWidth; };
  int64_t next = 0;
  for (int64_t d = 0; d < s[0]; ++d)
    for (int64_t y = 0; y < s[1]; ++y)
      for (int64_t x = 0; x < s[2]; ++x)
        for (int64_t c = 0; c < s[3]; ++c)
          for (int64_t o = 0; o < s[4]; ++o) {
            const int64_t place = (((o * s[1] + y) * s[2] + x) * s[0] + d) * s[3] + c;
            std::copy_n(&from[at(next++)], kWidth, &to[at(place)]);
          }
  return to;
}

}  // namespace

void SubgraphReader::compose_volume(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::Conv3dOptions>();
  const graph::Tensor input = in.input(0), weights = in.input(1);
  if (options == nullptr) return;
  if (input.type != DataType::Float32 || weights.type != DataType::Float32)
    return in.problem(fmt::format("computes on {} with weights of {}; f32 is possible",
                                  to_string(input.type), to_string(weights.type)));
  if (input.shape.size() != 5 || weights.shape.size() != 5 || weights.shape[3] != input.shape[4])
    return in.problem(fmt::format("has the input [{}] and the weights [{}]",
                                  fmt::join(input.shape, ","), fmt::join(weights.shape, ",")),
                      "[N,D,H,W,C] and [KD,KH,KW,C,O] are possible");
  if (!in.is_constant(1)) return in.problem("needs weights that are constant");
  const int64_t strides[] = {in.positive(options->stride_d(), "stride_d"),
                             in.positive(options->stride_h(), "stride_h"),
                             in.positive(options->stride_w(), "stride_w")};
  const int64_t dilations[] = {in.positive(options->dilation_d(), "dilation_d"),
                               in.positive(options->dilation_h(), "dilation_h"),
                               in.positive(options->dilation_w(), "dilation_w")};
  const graph::Activation activation = in.activation(options->activation());
  const bool pads = options->padding() == format::Padding::Same;
  int64_t before[3] = {}, after[3] = {}, made[3] = {};
  for (size_t axis = 0; axis < 3; ++axis) {
    const int64_t extent = input.shape[axis + 1];
    const int64_t reach = (weights.shape[axis] - 1) * dilations[axis] + 1;
    if (pads) {
      const Extents around =
          same_padding(extent, weights.shape[axis], strides[axis], dilations[axis]);
      before[axis] = around.begin, after[axis] = around.end;
    }
    const int64_t whole = extent + before[axis] + after[axis];
    if (whole < reach)
      return in.problem(fmt::format("has a window of {} in an extent of {}", reach, whole));
    made[axis] = (whole - reach) / strides[axis] + 1;
  }
  const int64_t images = input.shape[0] * made[0], depth = weights.shape[0];
  const int64_t channels = input.shape[4], filters = weights.shape[4];
  const Shape result{input.shape[0], made[0], made[1], made[2], filters};
  in.decide_shape(result);
  if (!in.clean()) return;

  const auto reals = [](Shape shape) {
    return graph::Tensor{.type = DataType::Float32, .shape = std::move(shape)};
  };
  int32_t x = current(op.inputs[0]);
  Shape shape = input.shape;
  if (before[0] + after[0] != 0) {
    shape[1] += before[0] + after[0];
    x = put(op, OpKind::Pad, graph::PadAttrs{{0, before[0], 0, 0, 0}, {0, after[0], 0, 0, 0}}, {x},
            reals(shape));
  }
  shape[1] = made[0];
  std::vector<int32_t> planes;
  for (int64_t plane = 0; plane < depth; ++plane) {
    const graph::SliceAttrs part{
        {0, plane * dilations[0], 0, 0, 0}, shape, {1, strides[0], 1, 1, 1}, {}};
    planes.push_back(put(op, OpKind::Slice, part, {x}, reals(shape)));
  }
  x = planes[0];
  shape[4] = depth * channels;
  if (depth > 1) x = put(op, OpKind::Concat, graph::AxisAttrs{4}, planes, reals(shape));
  shape = {images, input.shape[2], input.shape[3], depth * channels};
  x = put(op, OpKind::Reshape, graph::ReshapeAttrs{shape}, {x}, reals(shape));
  MadeConstant filter{reals({filters, weights.shape[1], weights.shape[2], depth * channels}),
                      by_plane(bytes(current(op.inputs[1])), weights.shape)};
  filter.tensor.name = weights.name;
  graph::Conv2dAttrs attrs;
  attrs.stride_h = strides[1], attrs.stride_w = strides[2];
  attrs.dilation_h = dilations[1], attrs.dilation_w = dilations[2];
  attrs.padding = {before[1], before[2], after[1], after[2]};
  attrs.activation = activation;
  std::vector<int32_t> operands{x, make(std::move(filter))};
  if (in.has_input(2)) operands.push_back(current(op.inputs[2]));
  x = put(op, OpKind::Conv2d, attrs, std::move(operands),
          reals({images, made[1], made[2], filters}));
  put_last(op, OpKind::Reshape, graph::ReshapeAttrs{result}, {x});
}

}  // namespace intarsia::tflite
