// The places of maxima within windows, and values put back to such places.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "import/onnx/moving.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"
#include "import/onnx/unpool.h"
#include "import/onnx/whole_numbers.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

int64_t windows_along(const Axis& axis) {
  return (axis.input + axis.before + axis.after - axis.covered()) / axis.stride + 1;
}

// Where the element at (y, x) of each window lies within its image, as [1, windows, windows, 1].
TensorId places_at(Reader& in, const Window& window, int64_t y, int64_t x) {
  const Axis &h = window.h, &w = window.w;
  std::vector<int64_t> places;
  for (int64_t row = 0; row < windows_along(h); ++row)
    for (int64_t column = 0; column < windows_along(w); ++column)
      places.push_back((row * h.stride + y * h.dilation - h.before) * w.input + column * w.stride +
                       x * w.dilation - w.before);
  return in.make_constant(
      integer_values(DataType::Int32, {1, windows_along(h), windows_along(w), 1}, places));
}

}  // namespace

// Operand 0's place of the first of the largest elements in each window, counted through all of its elements: element after element of
// the window is compared with the largest one before it.
TensorId maximum_places(Reader& in, const Window& window) {
  constexpr int64_t kMostElements = 64;
  const Axis &h = window.h, &w = window.w;
  if (!in.require(!window.depth && h.kernel * w.kernel <= kMostElements,
                  fmt::format("gives the places of its maxima in windows of {} elements",
                              h.kernel * w.kernel),
                  fmt::format("at most {} of images are possible", kMostElements)) ||
      !in.require(in.integer("storage_order", 0) == 0,
                  "counts the places of its maxima column by column") ||
      !in.require(windows_along(h) >= 1 && windows_along(w) >= 1,
                  "has a window larger than its operand") ||
      !table_fits(in, windows_along(h) * windows_along(w) * h.kernel * w.kernel))
    return {};
  // Bytes have the same order as floats.
  const TensorId reals = in.cast(in.operand(0), kFloat);
  if (!in.ok()) return {};
  const TensorId image = in.to_channels_last(as_image(in, reals));
  if (!in.ok()) return {};
  const Shape shape = in.shape(image);
  if (!in.require(element_count(shape) <= std::numeric_limits<int32_t>::max(),
                  "has more than 2^31 elements"))
    return {};
  const graph::PadAttrs pad{{0, h.before, w.before, 0}, {0, h.after, w.after, 0}};
  const TensorId padded = in.emit_alike(
      OpKind::PadV2, pad, {image, in.number(std::numeric_limits<float>::lowest())}, "pad");
  TensorId best, place;
  for (int64_t y = 0; y < h.kernel; ++y)
    for (int64_t x = 0; x < w.kernel && in.ok(); ++x) {
      const graph::SliceAttrs part{{0, y * h.dilation, x * w.dilation, 0},
                                   {shape[0], windows_along(h), windows_along(w), shape[3]},
                                   {1, h.stride, w.stride, 1},
                                   {}};
      const TensorId near = in.emit_alike(OpKind::Slice, part, {padded}, "near");
      const TensorId here = places_at(in, window, y, x);
      if (!best.valid()) {
        best = near, place = here;
        continue;
      }
      const TensorId larger =
          in.emit(OpKind::Greater, NoAttrs{}, {near, best}, DataType::Bool, {}, "larger");
      place =
          in.emit(OpKind::Select, NoAttrs{}, {larger, here, place}, DataType::Int32, {}, "place");
      best = in.emit_alike(OpKind::Maximum, NoAttrs{}, {best, near}, "largest");
    }
  std::vector<int64_t> images;
  for (int64_t i = 0; i < shape[0] * shape[3]; ++i) images.push_back(i * h.input * w.input);
  const TensorId image_of =
      in.make_constant(integer_values(DataType::Int32, {shape[0], 1, 1, shape[3]}, images));
  place =
      in.emit(OpKind::Add, graph::BinaryAttrs{}, {place, image_of}, DataType::Int32, {}, "of_all");
  if (!in.ok()) return {};
  return in.cast(from_image(in, place, window.is_line), DataType::Int64);
}

// Updates at places of all of a tensor of zeros; quantised ones stay so.
TensorId put_into_zeros(Reader& in, TensorId places, TensorId updates, const Shape& shape) {
  const int64_t count = element_count(in.shape(updates));
  const graph::Tensor given = in.tensor(updates);
  const int64_t zero = given.quantization.present() ? given.quantization.zero_point[0] : 0;
  const TensorId nothing =
      given.type == kFloat
          ? in.number(0)
          : in.make_constant(integer_values(given.type, {1}, {zero}), given.quantization);
  const Shape all{element_count(shape)};
  const TensorId put = in.emit(
      OpKind::ScatterNd, graph::ScatterAttrs{all, "none"},
      {in.reshape(nothing, {1}), in.reshape(places, {count, 1}), in.reshape(updates, {count})},
      given.type, given.quantization);
  return in.ok() ? in.reshape(put, shape) : TensorId{};
}

void read_max_unpool(Reader& in) {
  const Shape shape = in.shape_of(0);
  const auto kernel = in.integers("kernel_shape");
  const size_t axes = shape.size() < 2 ? 0 : shape.size() - 2;
  const std::vector<int64_t> ones(axes, 1), none(2 * axes, 0);
  const auto strides = in.integers("strides").value_or(ones),
             pads = in.integers("pads").value_or(none);
  if (!in.require(
          axes >= 1 && kernel && kernel->size() == axes && strides.size() == axes &&
              pads.size() == 2 * axes && in.shape_of(1) == shape,
          fmt::format("puts [{}] at [{}]", fmt::join(shape, ","), fmt::join(in.shape_of(1), ","))))
    return;
  Shape all(shape.begin(), shape.begin() + 2);
  for (size_t i = 0; i < axes; ++i) {
    constexpr int64_t kMost = 1 << 20;
    const auto is_size = [](int64_t n) { return n >= 0 && n <= kMost; };
    if (!in.require(is_size((*kernel)[i]) && is_size(strides[i]) && is_size(pads[i]) &&
                        is_size(pads[axes + i]) && is_size(shape[i + 2]),
                    "has sizes beyond a million"))
      return;
    all.push_back((shape[i + 2] - 1) * strides[i] + (*kernel)[i] - pads[i] - pads[axes + i]);
    if (!in.require(all.back() >= 1 && all.back() <= kMost,
                    fmt::format("makes an extent of {}", all.back())))
      return;
  }
  if (in.has(2)) {
    const auto given = in.known_integers(2, "its shape");
    if (!given ||
        !in.require(*given == all, fmt::format("makes [{}] of windows that cover [{}]",
                                               fmt::join(*given, ","), fmt::join(all, ","))))
      return;
  }
  int64_t elements = 1;
  for (const int64_t extent : all)
    if (!in.require(extent <= std::numeric_limits<int32_t>::max() / elements,
                    "has more than 2^31 elements"))
      return;
    else
      elements *= extent;
  const TensorId places = narrowed(in, in.operand(1));
  if (!in.ok()) return;
  move(in, [&](TensorId id) { return put_into_zeros(in, places, id, all); });
}

}  // namespace intarsia::onnx
