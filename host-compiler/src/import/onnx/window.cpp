#include "import/onnx/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace intarsia::onnx {

using graph::TensorId;

std::optional<Window> read_window(Reader& in, std::vector<int64_t> kernel, bool volumes) {
  const Shape shape = in.shape_of(0);
  const size_t axes = shape.size() < 2 ? 0 : shape.size() - 2;
  if (!in.require(axes >= 1 && axes <= (volumes ? 3 : 2),
                  fmt::format("works on a tensor of rank {}; images of rank 4{} lines of rank 3 "
                              "are possible",
                              shape.size(), volumes ? ", volumes of rank 5 and" : " and")))
    return std::nullopt;
  const auto list = [&](const char* name, int64_t absent, size_t count) {
    const std::vector<int64_t> given =
        in.integers(name).value_or(std::vector<int64_t>(count, absent));
    const bool sane = given.size() == count && std::ranges::all_of(given, [&](int64_t number) {
                        return number >= absent && number <= kMostWindow;
                      });
    in.require(sane, fmt::format("has {} [{}]; needs {} numbers of {} or more", name,
                                 fmt::join(given, ","), count, absent));
    return given;
  };
  if (kernel.empty()) kernel = list("kernel_shape", 1, axes);
  const std::vector<int64_t> strides = list("strides", 1, axes),
                             dilations = list("dilations", 1, axes),
                             pads = list("pads", 0, 2 * axes);
  if (!in.require(kernel.size() == axes,
                  fmt::format("has a kernel of {} axes for {}", kernel.size(), axes)) ||
      !in.ok())
    return std::nullopt;
  Window window;
  window.is_line = axes == 1;
  const auto fill = [&](Axis& axis, size_t i) {
    axis = {shape[i + 2], kernel[i], strides[i], dilations[i], pads[i], pads[axes + i]};
  };
  if (axes == 3) fill(window.depth.emplace(), 0);
  if (axes >= 2) fill(window.h, axes - 2);
  fill(window.w, axes - 1);
  return window;
}

void pad_automatically(Reader& in, Window& window) {
  const std::string mode = in.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return;
  const bool upper = mode == "SAME_UPPER", lower = mode == "SAME_LOWER";
  if (!in.require(upper || lower || mode == "VALID",
                  fmt::format("has auto_pad '{}'", tflite::printable(mode))))
    return;
  for (Axis* axis : {&window.h, &window.w, window.depth ? &*window.depth : nullptr}) {
    if (axis == nullptr) continue;
    const int64_t places = (axis->input + axis->stride - 1) / axis->stride;
    const int64_t total =
        std::max<int64_t>(0, (places - 1) * axis->stride + axis->covered() - axis->input);
    axis->before = mode == "VALID" ? 0 : upper ? total / 2 : total - total / 2;
    axis->after = mode == "VALID" ? 0 : total - axis->before;
  }
}

TensorId as_image(Reader& in, TensorId id) {
  Shape shape = in.shape(id);
  if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
  return in.reshape(id, shape);
}

TensorId from_image(Reader& in, TensorId id, bool is_line) {
  id = in.to_channels_first(id);
  Shape shape = in.shape(id);
  if (is_line && id.valid()) shape.erase(shape.begin() + 2);
  return is_line ? in.reshape(id, shape) : id;
}

graph::Padding2d padding(const Window& w) {
  return {w.h.before, w.w.before, w.h.after, w.w.after};
}

}  // namespace intarsia::onnx
