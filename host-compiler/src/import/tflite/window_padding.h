// What SAME adds around the windows of the format.
#pragma once

#include <algorithm>
#include <cstdint>

#include "intarsia/plugin/rounding.h"

namespace intarsia::tflite {

struct Extents {
  int64_t begin = 0, end = 0;
};

// What is added along one axis so that ceil(input / stride) windows fit; the odd element at the
// end.
inline Extents same_padding(int64_t input, int64_t filter, int64_t stride, int64_t dilation) {
  const int64_t windows = ceil_div(input, stride);
  const int64_t reach = (windows - 1) * stride + (filter - 1) * dilation + 1;
  const int64_t total = std::max<int64_t>(0, reach - input);
  return {total / 2, total - total / 2};
}

}  // namespace intarsia::tflite
