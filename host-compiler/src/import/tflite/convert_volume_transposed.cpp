// Transposed convolutions of volumes. Of the planes of the result those that lie a whole number of strides apart are sums of the same
// planes of the filter: the input's planes that such a sum takes become channels, a transposed convolution of images does the rest, and
// the sums of one stride's planes are laid between each other.
#include <algorithm>

#include <fmt/ranges.h>

#include "import/tflite/subgraph_reader.h"
#include "import/tflite/window_padding.h"

namespace intarsia::tflite {

namespace {

using graph::OpKind;

graph::Tensor floats_of(Shape shape) {
  return {.type = DataType::Float32, .shape = std::move(shape)};
}

// Planes first, first + step ... of [KD, KH, KW, O, I] -> [O, KH, KW, planes * I]; zeros where there is no such plane.
std::vector<uint8_t> planes_apart(std::span<const uint8_t> from, const Shape& s, int64_t first,
                                  int64_t step, int64_t planes) {
  constexpr int64_t kWidth = 4;
  std::vector<uint8_t> to(static_cast<size_t>(s[3] * s[1] * s[2] * planes * s[4] * kWidth));
  int64_t next = 0;
  for (int64_t o = 0; o < s[3]; ++o)
    for (int64_t y = 0; y < s[1]; ++y)
      for (int64_t x = 0; x < s[2]; ++x)
        for (int64_t plane = 0; plane < planes; ++plane, next += s[4] * kWidth) {
          const int64_t d = first + plane * step;
          if (d >= s[0]) continue;
          const int64_t place = (((d * s[1] + y) * s[2] + x) * s[3] + o) * s[4] * kWidth;
          std::copy_n(from.begin() + place, s[4] * kWidth, to.begin() + next);
        }
  return to;
}

}  // namespace

// Operands: the result's shape, weights, input, bias.
void SubgraphReader::compose_transposed_volume(const OperatorInfo& op, OperatorReader& in) {
  const auto* options = in.required_options<format::Conv3dOptions>();
  const graph::Tensor weights = in.input(1), input = in.input(2);
  const auto shape = in.integers(0, "its shape");
  if (options == nullptr || !shape) return;
  const Shape& w = weights.shape;
  if (input.type != DataType::Float32 || weights.type != DataType::Float32)
    return in.problem(fmt::format("computes on {} with weights of {}; f32 is possible",
                                  to_string(input.type), to_string(weights.type)));
  if (input.shape.size() != 5 || w.size() != 5 || shape->size() != 5 || w[4] != input.shape[4] ||
      (*shape)[4] != w[3] || (*shape)[0] != input.shape[0] ||
      std::ranges::any_of(*shape, [](int64_t extent) { return extent < 1; }))
    return in.problem(
        fmt::format("makes [{}] of the input [{}] and the weights [{}]", fmt::join(*shape, ","),
                    fmt::join(input.shape, ","), fmt::join(w, ",")),
        "[N,D,H,W,O] of [N,D,H,W,I] and [KD,KH,KW,O,I] is possible");
  if (!in.is_constant(1)) return in.problem("needs weights that are constant");
  if (options->dilation_d() != 1 || options->dilation_h() != 1 || options->dilation_w() != 1)
    return in.problem("has dilations, which a transposed convolution of volumes has none of");
  const int64_t stride = in.positive(options->stride_d(), "stride_d");
  constexpr int64_t kMostStride = 64;  // each place within it is a convolution of its own
  if (in.clean() && stride > kMostStride)
    return in.problem(fmt::format("has stride_d {}", stride),
                      fmt::format("1 to {} are possible", kMostStride));
  graph::TransposeConv2dAttrs attrs;
  attrs.stride_h = in.positive(options->stride_h(), "stride_h");
  attrs.stride_w = in.positive(options->stride_w(), "stride_w");
  attrs.activation = in.activation(options->activation());
  attrs.out_h = (*shape)[2], attrs.out_w = (*shape)[3];
  int64_t skipped = 0;
  if (in.clean() && options->padding() == format::Padding::Same) {
    skipped = same_padding((*shape)[1], w[0], stride, 1).begin;
    attrs.pad_top = same_padding(attrs.out_h, w[1], attrs.stride_h, 1).begin;
    attrs.pad_left = same_padding(attrs.out_w, w[2], attrs.stride_w, 1).begin;
  }
  in.decide_shape(*shape);
  if (!in.clean()) return;

  // Sums for each place within a stride, and planes of the filter in the longest of them.
  const int64_t sums = ceil_div(skipped + (*shape)[1], stride), longest = ceil_div(w[0], stride);
  const int64_t planes = input.shape[1], kept = std::min(planes, sums);
  int32_t x = current(op.inputs[2]);
  Shape extents = input.shape;
  if (kept < planes) {
    extents[1] = kept;
    x = put(op, OpKind::Slice, graph::SliceAttrs{{0, 0, 0, 0, 0}, extents, {1, 1, 1, 1, 1}, {}},
            {x}, floats_of(extents));
  }
  if (longest > 1 || sums > kept) {
    extents[1] = longest - 1 + sums;
    x = put(op, OpKind::Pad, graph::PadAttrs{{0, longest - 1, 0, 0, 0}, {0, sums - kept, 0, 0, 0}},
            {x}, floats_of(extents));
  }
  const int64_t images = input.shape[0] * sums;
  const Shape result{images, 1, attrs.out_h, attrs.out_w, w[3]};
  std::vector<int32_t> between;
  for (int64_t place = 0; place < stride; ++place) {
    const int64_t summed = std::max<int64_t>(1, ceil_div(w[0] - place, stride));
    std::vector<int32_t> parts;
    extents[1] = sums;
    for (int64_t plane = 0; plane < summed; ++plane)
      parts.push_back(
          put(op, OpKind::Slice,
              graph::SliceAttrs{{0, longest - 1 - plane, 0, 0, 0}, extents, {1, 1, 1, 1, 1}, {}},
              {x}, floats_of(extents)));
    Shape joint = extents;
    joint[4] *= summed;
    int32_t made = parts[0];
    if (summed > 1)
      made = put(op, OpKind::Concat, graph::AxisAttrs{4}, std::move(parts), floats_of(joint));
    joint = {images, joint[2], joint[3], joint[4]};
    made = put(op, OpKind::Reshape, graph::ReshapeAttrs{joint}, {made}, floats_of(joint));
    MadeConstant filter{floats_of({w[3], w[1], w[2], joint[3]}),
                        planes_apart(bytes(current(op.inputs[1])), w, place, stride, summed)};
    filter.tensor.name = weights.name;
    std::vector<int32_t> operands{made, make(std::move(filter))};
    if (in.has_input(3)) operands.push_back(current(op.inputs[3]));
    made = put(op, OpKind::TransposeConv2d, attrs, std::move(operands),
               floats_of({images, attrs.out_h, attrs.out_w, w[3]}));
    between.push_back(
        put(op, OpKind::Reshape, graph::ReshapeAttrs{result}, {made}, floats_of(result)));
  }
  x = between[0];
  Shape all = result;
  all[1] = stride;
  if (stride > 1)
    x = put(op, OpKind::Concat, graph::AxisAttrs{1}, std::move(between), floats_of(all));
  all[0] = input.shape[0], all[1] = sums * stride;
  if (all == *shape) return put_last(op, OpKind::Reshape, graph::ReshapeAttrs{all}, {x});
  x = put(op, OpKind::Reshape, graph::ReshapeAttrs{all}, {x}, floats_of(all));
  put_last(op, OpKind::Slice, graph::SliceAttrs{{0, skipped, 0, 0, 0}, *shape, {1, 1, 1, 1, 1}, {}},
           {x});
}

}  // namespace intarsia::tflite
