// Windows that slide over the height and width of images, as the attributes of an operator describe them.
#pragma once

#include <optional>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// One of the spatial axes.
struct Axis {
  int64_t input = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;

  int64_t covered() const { return (kernel - 1) * dilation + 1; }
};

struct Window {
  Axis h, w;
  bool is_line = false;                      // of rank 3: [N,C,W], which is [N,C,1,W] here
  std::optional<Axis> depth = std::nullopt;  // of rank 5: [N,C,D,H,W]
};

inline constexpr int64_t kMostWindow = 1 << 24;

// Rank 3 or 4, where volumes are possible 5, and what the attributes say about the axes after the second. Without a kernel it is
// an attribute, too.
std::optional<Window> read_window(Reader& in, std::vector<int64_t> kernel, bool volumes = false);
// SAME_UPPER puts the odd element at the end, SAME_LOWER at the beginning.
void pad_automatically(Reader& in, Window& window);
graph::TensorId as_image(Reader& in, graph::TensorId id);
// Back to ONNX's order and rank.
graph::TensorId from_image(Reader& in, graph::TensorId id, bool is_line);
graph::Padding2d padding(const Window& window);

}  // namespace intarsia::onnx
