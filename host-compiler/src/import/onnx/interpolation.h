// Where the elements of a resized tensor lie in the operand of Resize, and interpolation between its elements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Per axis of the operand.
struct Target {
  Shape size;
  std::vector<float> scale;  // as the model gives it, or the quotient of the sizes
};

struct Modes {
  std::string mode, place, nearest;
};

// Where element `at` of the result lies in the operand; nothing for ways that are not known.
std::optional<float> position(const Modes& modes, int64_t at, int64_t from, int64_t to,
                              float scale);

// Any interpolation that is a sum of elements times weights which only depend on the place: along each axis a product
// with a matrix of these weights.
void interpolate(Reader& in, const Target& target, const Modes& modes);

}  // namespace intarsia::onnx
