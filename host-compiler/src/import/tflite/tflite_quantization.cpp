// Scales and zero points: what the file says, and whether arithmetic can be built on it.
#include <fmt/format.h>

#include <algorithm>
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

constexpr float kSmallest = std::numeric_limits<float>::min();

// Scales of 0 and of less than a float holds in full are read as the smallest: see check_vanishing().
std::string check_scale(float scale) {
  if (std::isnan(scale)) return "is not a number";
  if (std::isinf(scale)) return "is infinite";
  if (scale < 0) return fmt::format("is {}, but must be positive", scale);
  return "";
}

std::string nth(size_t i, size_t count) {
  return count == 1 ? "" : fmt::format(" of channel {}", i);
}

}  // namespace

std::string read_quantization(const format::Quantization* raw, graph::Tensor& tensor,
                              std::string& hint) {
  // A float tensor may carry the range seen in calibration; its values are plain all the same.
  if (raw == nullptr || !is_integer(tensor.type)) return "";
  // Those of blocks are read with the values.
  if (raw->details_type() == format::QuantizationDetails::BlockwiseQuantization) return "";
  if (raw->details_type() != format::QuantizationDetails::NONE) {
    return "has a custom quantisation; scales of tensors, of channels and of blocks of constants "
           "can be read";
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
      hint =
          "the converter could not quantise it: give it samples that the network will meet "
          "(representative_dataset), and look for weights that are all zero or no numbers";
      return fmt::format("scale{} {}", nth(i, scales.size()), wrong);
    }
    if (zero_points[i] < least || zero_points[i] > most) {
      return fmt::format("zero point{} is {}, outside {}..{} of {}", nth(i, scales.size()),
                         zero_points[i], least, most, to_string(tensor.type));
    }
  }
  for (const float scale : scales) tensor.quantization.scale.push_back(std::max(scale, kSmallest));
  tensor.quantization.zero_point = zero_points;
  tensor.quantization.axis = axis;
  return "";
}

bool has_vanishing_scale(const format::Quantization* raw, const graph::Tensor& tensor) {
  return tensor.quantization.present() && raw != nullptr &&
         std::ranges::any_of(values(raw->scale()), [](float scale) { return scale < kSmallest; });
}

std::string check_vanishing(const format::Quantization& raw, const graph::Tensor& tensor,
                            std::span<const uint8_t> bytes) {
  const std::span<const float> scales = values(raw.scale());
  const graph::Quantization& q = tensor.quantization;
  const auto size = static_cast<size_t>(bits(tensor.type) / 8);
  int64_t inner = 1;  // elements of one channel that lie side by side
  for (auto axis = static_cast<size_t>(q.axis) + 1; axis < tensor.shape.size(); ++axis)
    inner *= tensor.shape[axis];
  for (size_t i = 0; size > 0 && i < bytes.size() / size; ++i) {
    const size_t channel = scales.size() == 1 ? 0 : i / static_cast<size_t>(inner) % scales.size();
    if (scales[channel] < kSmallest && number_at(bytes, size, i) != q.zero_point[channel])
      bytes = {};
  }
  if (!bytes.empty()) return "";
  const auto worst = std::ranges::min_element(scales);
  const std::string which = nth(static_cast<size_t>(worst - scales.begin()), scales.size());
  return *worst > 0 ? fmt::format("scale{} is {}, too small to compute with", which, *worst)
                    : fmt::format("scale{} is 0, but must be positive", which);
}

}  // namespace intarsia::tflite
