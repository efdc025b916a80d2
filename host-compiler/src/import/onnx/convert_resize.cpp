// Resize and Upsample, to a size that is known.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/interpolation.h"
#include "import/onnx/reader.h"
#include "import/onnx/readers.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

namespace {

std::vector<int64_t> axes_of(Reader& in, size_t count, size_t rank) {
  std::vector<int64_t> axes = in.integers("axes").value_or(std::vector<int64_t>{});
  if (axes.empty())
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (!in.require(axes.size() == count,
                  fmt::format("has {} sizes or scales for {} axes", count, axes.size())))
    return {};
  for (int64_t& axis : axes) axis = in.axis(axis, rank);
  return in.ok() ? axes : std::vector<int64_t>{};
}

constexpr float kMostExtent = 1 << 20;

Target target(Reader& in) {
  const Shape shape = in.shape_of(0);
  const bool is_old = in.is("Upsample") || in.node().operator_set < 11;
  Target result{shape, std::vector<float>(shape.size(), 1.0f)};
  if (!is_old && in.has(3)) {
    const auto sizes = in.known_integers(3, "its sizes");
    if (!sizes) return result;
    const std::vector<int64_t> axes = axes_of(in, sizes->size(), shape.size());
    const std::string policy = in.text("keep_aspect_ratio_policy", "stretch");
    const bool smaller = policy == "not_larger";
    std::optional<float> common;  // the scale of all axes, where the aspect ratio is kept
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto at = static_cast<size_t>(axes[i]);
      result.size[at] = (*sizes)[i];
      result.scale[at] = static_cast<float>((*sizes)[i]) / static_cast<float>(shape[at]);
      common = !common   ? result.scale[at]
               : smaller ? std::min(*common, result.scale[at])
                         : std::max(*common, result.scale[at]);
    }
    if (!in.require(policy == "stretch" || smaller || policy == "not_smaller",
                    fmt::format("has the policy '{}'", tflite::printable(policy))))
      return result;
    for (const int64_t axis : axes) {
      if (policy == "stretch" || !common) break;
      const auto at = static_cast<size_t>(axis);
      const float extent = std::floor(static_cast<float>(shape[at]) * *common + 0.5f);
      if (!in.require(extent >= 1 && extent <= kMostExtent,
                      fmt::format("scales {} elements by {}", shape[at], *common)))
        return result;
      result.size[at] = static_cast<int64_t>(extent), result.scale[at] = *common;
    }
  } else {
    std::vector<float> scales;
    const size_t operand = is_old ? 1 : 2;
    if (in.has(operand)) {
      const TensorId id = in.operand(operand);
      if (!in.require(in.is_constant(id) && in.tensor(id).type == kFloat,
                      "has scales that are known only when the model runs"))
        return result;
      scales = as_reals(in.values_of(id));
    } else if (const auto found = in.node().attributes.find("scales");
               found != in.node().attributes.end()) {
      scales.assign(found->second.reals().begin(), found->second.reals().end());
    }
    const std::vector<int64_t> axes = axes_of(in, scales.size(), shape.size());
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto at = static_cast<size_t>(axes[i]);
      const float extent = std::floor(static_cast<float>(shape[at]) * scales[i]);
      if (!in.require(extent >= 1 && extent <= kMostExtent,
                      fmt::format("scales {} elements by {}", shape[at], scales[i])))
        return result;
      result.size[at] = static_cast<int64_t>(extent), result.scale[at] = scales[i];
    }
  }
  for (const int64_t extent : result.size)
    in.require(extent >= 1 && static_cast<float>(extent) <= kMostExtent,
               fmt::format("makes an extent of {}", extent));
  return result;
}

// Elements picked along each axis that changes: any way of rounding, any rank, any type.
void pick(Reader& in, const Target& target, const Modes& modes) {
  const Shape shape = in.shape_of(0);
  const TensorId given = in.carry();
  TensorId id = given;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (target.size[axis] == shape[axis] && target.scale[axis] == 1) continue;
    std::vector<int64_t> places;
    for (int64_t at = 0; at < target.size[axis]; ++at) {
      const float real =
          position(modes, at, shape[axis], target.size[axis], target.scale[axis]).value_or(0);
      const float place = modes.nearest == "floor"               ? std::floor(real)
                          : modes.nearest == "ceil"              ? std::ceil(real)
                          : modes.nearest == "round_prefer_ceil" ? std::floor(real + 0.5f)
                                                                 : std::ceil(real - 0.5f);
      places.push_back(std::clamp<int64_t>(static_cast<int64_t>(place), 0, shape[axis] - 1));
    }
    const TensorId indices =
        in.make_constant(integer_values(DataType::Int32, {target.size[axis]}, places));
    id = in.emit_alike(OpKind::Gather, graph::GatherAttrs{static_cast<int64_t>(axis), 0},
                       {id, indices});
  }
  in.result(0, {id, given == in.value(0).tensor ? in.value(0).form : Form::Plain, {}});
}

// How far places between elements are from where they should be, at most: the IR's arithmetic of integers counts them in 1024ths
// and adds up the distance of two outputs, which is rounded so.
double misplaced(int64_t in, int64_t out, const graph::ResizeAttrs& attrs) {
  const bool corners = attrs.align_corners && out > 1;
  const double scale = corners ? static_cast<double>(in - 1) / static_cast<double>(out - 1)
                               : static_cast<double>(in) / static_cast<double>(out);
  const double counted = std::floor(scale * 1024 + 0.5);
  const double half = attrs.half_pixel_centers ? 0.5 : 0;
  const auto place = [&](double position) {
    return std::clamp(position, 0.0, static_cast<double>(in - 1));
  };
  double most = 0;
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    const double begin = attrs.half_pixel_centers ? std::floor(counted / 2) - 512 : 0;
    most = std::max(
        most, std::abs(place((at * counted + begin) / 1024) - place((at + half) * scale - half)));
  }
  return most;
}

// Whether a result of integers is at most a step from the real one, whatever the neighbours are: half of it is rounding.
bool blends_exactly(Reader& in, const Target& to, const graph::ResizeAttrs& attrs) {
  const Shape shape = in.shape_of(0);
  const double range = in.tensor(in.value(0).tensor).type == DataType::Int16 ? 65535 : 255;
  return (misplaced(shape[2], to.size[2], attrs) + misplaced(shape[3], to.size[3], attrs)) *
             range <=
         0.5;
}

// Whether the result is rounded to steps that are finer than the operand's, which a blend in the operand's steps cannot tell apart.
bool has_finer_result(Reader& in) {
  const std::optional<QuantizedAs> as = in.quantized_behind(in.node().outputs.front());
  if (!as || !in.is_real(0)) return false;
  // Scales that differ by less are the same one, computed twice.
  constexpr float kAlike = 1.01f;
  const std::vector<float>& steps = in.tensor(in.value(0).tensor).quantization.scale;
  return steps.size() == 1 && steps.front() > as->quantization.scale.front() * kAlike;
}

// The IR's own operators, on images whose height and width change.
void resize_image(Reader& in, OpKind kind, const graph::ResizeAttrs& attrs,
                  bool in_integers = true) {
  const auto make = [&](TensorId id) {
    return in.to_channels_first(in.emit_alike(kind, attrs, {in.to_channels_last(id)}));
  };
  if (in_integers) {
    const TensorId moved = in.attempt([&] { return make(in.value(0).tensor); });
    if (moved.valid()) return in.carried(moved);
  }
  const TensorId x = in.operand(0);
  const DataType given = in.tensor(x).type;
  if (given == kFloat || (in_integers && given != DataType::UInt8)) return in.result(make(x));
  // Bytes themselves, whose fractions are cut off.
  in.result(in.cast(make(in.cast(x, kFloat)), given));
}

}  // namespace

void read_resize(Reader& in) {
  const Shape shape = in.shape_of(0);
  const Target to = target(in);
  if (!in.ok()) return;
  const bool is_old = in.is("Upsample") || in.node().operator_set < 11;
  const Modes modes{in.text("mode", "nearest"),
                    is_old ? "asymmetric" : in.text("coordinate_transformation_mode", "half_pixel"),
                    is_old ? "floor" : in.text("nearest_mode", "round_prefer_floor")};
  const auto refuse = [&] {
    in.problem(fmt::format("has the mode '{}' with '{}'", tflite::printable(modes.mode),
                           tflite::printable(modes.place)),
               "docs/onnx.md names the modes that are possible");
  };
  const bool image = shape.size() == 4 && to.size[0] == shape[0] && to.size[1] == shape[1];
  graph::ResizeAttrs attrs;
  if (image) attrs.height = to.size[2], attrs.width = to.size[3];
  const auto whole = [&](size_t axis) {
    return to.size[axis] % shape[axis] == 0 &&
           to.scale[axis] == static_cast<float>(to.size[axis] / shape[axis]);
  };
  if (modes.mode == "nearest") {
    const bool rounds = modes.nearest == "floor" || modes.nearest == "ceil" ||
                        modes.nearest.starts_with("round_prefer");
    if (!rounds || !position(modes, 0, 1, 1, 1)) return refuse();
    // Enlarged by whole numbers, rounding half pixels to the nearest picks what flooring without them picks.
    const bool floors = (modes.place == "asymmetric" || modes.place == "tf_half_pixel_for_nn") &&
                        modes.nearest == "floor";
    const bool halves =
        modes.place.ends_with("half_pixel") && modes.nearest.starts_with("round_prefer");
    if (image && whole(2) && whole(3) && (floors || halves))
      return resize_image(in, OpKind::ResizeNearest, attrs);
    return pick(in, to, modes);
  }
  // The IR takes scales from the sizes, as corners that stay do.
  const auto exact = [&](size_t axis) {
    return modes.place == "align_corners" ||
           static_cast<float>(to.size[axis]) == static_cast<float>(shape[axis]) * to.scale[axis];
  };
  attrs.half_pixel_centers =
      modes.place == "half_pixel" || modes.place == "half_pixel_symmetric" ||
      (modes.place == "pytorch_half_pixel" && image && to.size[2] > 1 && to.size[3] > 1);
  attrs.align_corners = modes.place == "align_corners";
  const bool placed =
      attrs.half_pixel_centers || attrs.align_corners || modes.place == "asymmetric";
  const bool is_linear = modes.mode == "linear" || modes.mode == "bilinear";
  if (is_linear && placed && image && exact(2) && exact(3) && in.integer("antialias", 0) == 0)
    return resize_image(in, OpKind::ResizeBilinear, attrs,
                        blends_exactly(in, to, attrs) && !has_finer_result(in));
  if (!is_linear && modes.mode != "cubic") return refuse();
  interpolate(in, to, modes);
}

}  // namespace intarsia::onnx
