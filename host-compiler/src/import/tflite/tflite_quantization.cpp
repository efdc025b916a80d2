// Scales and zero points: what the file says, and whether arithmetic can be built on it.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "import/tflite/tflite_tensors.h"

namespace intarsia::tflite {

namespace {

struct Range {
  int64_t least, most;
};

Range representable(DataType type) {
  const int width = std::min(bits(type), 63);
  if (!is_signed(type)) return {0, (int64_t{1} << width) - 1};
  return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
}

std::string check_scale(float scale) {
  if (std::isnan(scale)) return "is not a number";
  if (std::isinf(scale)) return "is infinite";
  if (scale <= 0) return fmt::format("is {}, but must be positive", scale);
  if (scale < std::numeric_limits<float>::min()) {
    return fmt::format("is {}, too small to compute with", scale);
  }
  return "";
}

std::string nth(size_t i, size_t count) {
  return count == 1 ? "" : fmt::format(" {}", i);
}

}  // namespace

std::string read_quantization(const format::Quantization* raw, graph::Tensor& tensor) {
  // A float tensor may carry the range seen in calibration; its values are plain all the same.
  if (raw == nullptr || !is_integer(tensor.type)) return "";
  if (raw->details_type() != 0) {
    return "has custom or blockwise quantisation; only per tensor and per channel scales are "
           "supported";
  }
  const std::span<const float> scales = values(raw->scale());
  const std::vector<int64_t> zero_points = values(raw->zero_point());
  if (scales.empty()) return "";
  if (zero_points.size() != scales.size()) {
    return fmt::format("has {} scales but {} zero points", scales.size(), zero_points.size());
  }
  int32_t axis = 0;
  if (scales.size() > 1) {
    // Biases come with the axis of their weights (depthwise: 3); a vector has only one.
    axis = tensor.shape.size() == 1 ? 0 : raw->axis();
    if (axis < 0 || static_cast<size_t>(axis) >= tensor.shape.size()) {
      return fmt::format("has scales along axis {}, but rank {}", axis, tensor.shape.size());
    }
    const int64_t extent = tensor.shape[static_cast<size_t>(axis)];
    if (extent != static_cast<int64_t>(scales.size())) {
      return fmt::format("has {} scales along axis {}, whose extent is {}", scales.size(), axis,
                         extent);
    }
  }
  const auto [least, most] = representable(tensor.type);
  for (size_t i = 0; i < scales.size(); ++i) {
    if (const std::string wrong = check_scale(scales[i]); !wrong.empty()) {
      return fmt::format("scale{} {}", nth(i, scales.size()), wrong);
    }
    if (zero_points[i] < least || zero_points[i] > most) {
      return fmt::format("zero point{} is {}, outside {}..{} of {}", nth(i, scales.size()),
                         zero_points[i], least, most, to_string(tensor.type));
    }
  }
  tensor.quantization.scale.assign(scales.begin(), scales.end());
  tensor.quantization.zero_point = zero_points;
  tensor.quantization.axis = axis;
  return "";
}

}  // namespace intarsia::tflite
