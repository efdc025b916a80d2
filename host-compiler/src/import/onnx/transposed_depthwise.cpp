#include "import/onnx/transposed_depthwise.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "intarsia/plugin/rounding.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

// The results at one place within a stride, along one axis: a convolution by the elements `first`, `first + stride`, ... of the filter,
// from the last of `taps` on.
struct KernelPlace {
  int64_t first = 0, taps = 1, before = 0, after = 0;
};

std::optional<KernelPlace> kernel_place_of(int64_t at, int64_t stride, int64_t kernel, int64_t pad,
                                           int64_t inputs, int64_t outputs) {
  const int64_t taps = ceil_div(kernel, stride), reached = (at + pad) / stride;
  const KernelPlace place{(at + pad) % stride, taps, taps - 1 - reached,
                          ceil_div(outputs, stride) - 1 + reached - (inputs - 1)};
  return place.before < 0 || place.after < 0 ? std::nullopt : std::optional(place);
}

// The elements of [1,KH,KW,C] at these places; 0 where the filter has ended.
template <typename T>
std::vector<T> elements_at(const std::vector<T>& filter, const Shape& shape, const KernelPlace& h,
                           const KernelPlace& w, const graph::TransposeConv2dAttrs& attrs) {
  std::vector<T> found;
  for (int64_t i = h.taps; i-- > 0;)
    for (int64_t j = w.taps; j-- > 0;)
      for (int64_t c = 0; c < shape[3]; ++c) {
        const int64_t y = h.first + i * attrs.stride_h, x = w.first + j * attrs.stride_w;
        const bool has_ended = y >= shape[1] || x >= shape[2];
        found.push_back(has_ended ? T{}
                                  : filter[static_cast<size_t>((y * shape[2] + x) * shape[3] + c)]);
      }
  return found;
}

TensorId filter_at(Reader& in, TensorId filters, const KernelPlace& h, const KernelPlace& w,
                   const graph::TransposeConv2dAttrs& attrs) {
  const graph::Tensor given = in.tensor(filters);
  const Values values = in.values_of(filters);
  const Shape shape{1, h.taps, w.taps, given.shape[3]};
  if (given.type == kFloat)
    return in.make_constant(
        real_values(shape, elements_at(as_reals(values), given.shape, h, w, attrs)));
  graph::Quantization q = given.quantization;
  if (!q.per_channel()) q.axis = 0;
  return in.make_constant(
      integer_values(given.type, shape, elements_at(as_integers(values), given.shape, h, w, attrs)),
      q);
}

// [N,H,W,places*C], place by place, becomes [N,H*SH,W*SW,C], of which the first rows and columns are the result.
TensorId put_between(Reader& in, TensorId all, const graph::TransposeConv2dAttrs& attrs,
                     int64_t channels) {
  const Shape shape = in.shape(all);
  TensorId id = attrs.stride_h == 1
                    ? in.reshape(all, {shape[0], shape[1], shape[2] * attrs.stride_w, channels})
                    : in.emit_alike(OpKind::DepthToSpace, graph::BlockAttrs{attrs.stride_h}, {all},
                                    "between");
  if (!id.valid() || (in.shape(id)[1] == attrs.out_h && in.shape(id)[2] == attrs.out_w)) return id;
  return in.emit_alike(
      OpKind::Slice,
      graph::SliceAttrs{
          {0, 0, 0, 0}, {shape[0], attrs.out_h, attrs.out_w, channels}, {1, 1, 1, 1}, {}},
      {id}, "result");
}

}  // namespace

TensorId transposed_depthwise(Reader& in, TensorId image, TensorId filters, TensorId bias,
                              const graph::TransposeConv2dAttrs& attrs, DataType type,
                              const graph::Quantization& q) {
  if (!in.is_constant(filters) || (attrs.stride_h != 1 && attrs.stride_h != attrs.stride_w))
    return {};
  const Shape of = in.shape(image), kernel = in.shape(filters);
  // More of them than that are no more operators than there are channels.
  constexpr int64_t kMostPlaces = 16;
  if (attrs.stride_h * attrs.stride_w > std::max(kMostPlaces, of[3])) return {};
  std::vector<std::pair<KernelPlace, KernelPlace>> places;
  for (int64_t y = 0; y < attrs.stride_h; ++y)
    for (int64_t x = 0; x < attrs.stride_w; ++x) {
      const auto h =
          kernel_place_of(y, attrs.stride_h, kernel[1], attrs.pad_top, of[1], attrs.out_h);
      const auto w =
          kernel_place_of(x, attrs.stride_w, kernel[2], attrs.pad_left, of[2], attrs.out_w);
      if (!h || !w) return {};
      places.emplace_back(*h, *w);
    }
  std::vector<TensorId> results;
  for (const auto& place : places) {
    const auto& [h, w] = place;
    const graph::DepthwiseConv2dAttrs own{.padding = {h.before, w.before, h.after, w.after},
                                          .activation = attrs.activation};
    results.push_back(in.emit(OpKind::DepthwiseConv2d, own,
                              {image, filter_at(in, filters, h, w, attrs), bias}, type, q,
                              "place"));
    if (!results.back().valid()) return {};
  }
  const TensorId all = results.size() == 1
                           ? results.front()
                           : in.emit_alike(OpKind::Concat, graph::AxisAttrs{3}, results, "places");
  return all.valid() ? put_between(in, all, attrs, of[3]) : all;
}

}  // namespace intarsia::onnx
