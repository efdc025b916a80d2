#include "import/onnx/transposed_volume.h"

#include <algorithm>
#include <vector>

#include "import/onnx/stretches.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

TensorId filters_of_planes(Reader& in, TensorId weights) {
  const Shape s = in.shape(weights);
  return in.reshape(in.transpose(weights, {2, 1, 3, 4, 0}), {s[2] * s[1], s[3], s[4], s[0]});
}

// Slice d adds to d * stride + k * dilation. Of those slices of the result that lie a whole number of strides apart each plane of the filter
// meets all or none: its slices are added some places further, and the sums of the places within a stride are laid between each other.
TensorId summed_planes(Reader& in, TensorId planes, const Axis& depth, int64_t images,
                       int64_t groups, int64_t out) {
  if (!in.ok() || !planes.valid()) return {};
  const Shape s = in.shape(planes);
  const int64_t pixels = s[1] * s[2], channels = s[3] / depth.kernel, each = channels / groups;
  const TensorId all =
      in.reshape(planes, {images, depth.input, pixels, groups, depth.kernel, each});
  const int64_t furthest = (depth.kernel - 1) * depth.dilation / depth.stride;
  const int64_t length = depth.input + furthest;
  std::vector<TensorId> sums(static_cast<size_t>(depth.stride));
  for (int64_t k = 0; k < depth.kernel && in.ok(); ++k) {
    const int64_t place = k * depth.dilation, moved = place / depth.stride;
    TensorId part = in.reshape(stretch(in, all, 4, k, 1), {images, depth.input, pixels, channels});
    if (furthest != 0 && in.ok())
      part =
          in.emit_alike(OpKind::Pad, graph::PadAttrs{{0, moved, 0, 0}, {0, furthest - moved, 0, 0}},
                        {part}, "moved");
    TensorId& sum = sums[static_cast<size_t>(place % depth.stride)];
    sum = sum.valid() && in.ok()
              ? in.emit(OpKind::Add, graph::BinaryAttrs{}, {sum, part}, kFloat, {}, "sum")
              : part;
  }
  if (!in.ok()) return {};
  const Shape between = {images, length, 1, pixels, channels};
  for (TensorId& sum : sums)
    sum = sum.valid() ? in.reshape(sum, between) : filled(in, between, kFloat, 0);
  TensorId whole = sums[0];
  if (sums.size() > 1)
    whole = in.emit(OpKind::Concat, graph::AxisAttrs{2}, sums, kFloat, {}, "between");
  const int64_t made = length * depth.stride, needed = depth.before + out;
  whole = in.reshape(whole, {images, made, s[1], s[2], channels});
  if (needed > made && in.ok())
    whole =
        in.emit_alike(OpKind::Pad, graph::PadAttrs{{0, 0, 0, 0, 0}, {0, needed - made, 0, 0, 0}},
                      {whole}, "rest");
  return stretch(in, whole, 1, depth.before, out);
}

}  // namespace intarsia::onnx
