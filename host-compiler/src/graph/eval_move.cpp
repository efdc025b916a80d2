// Operators that only move elements.
#include <algorithm>
#include <cstring>

#include "graph/kernels.h"

namespace intarsia::graph {

Result<void> eval_reshape(const Invocation& call) {
  std::memcpy(call.outputs[0], call.inputs[0], static_cast<size_t>(call.in().bytes()));
  return {};
}

Result<void> eval_pad(const Invocation& call) {
  const auto& a = call.node.attrs<PadAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const auto size = static_cast<size_t>(bits(call.type()) / 8);
  if (bits(call.type()) % 8 != 0) return unsupported_types(call);
  const int64_t fill = call.out().quantization.present() ? call.out_zero_point() : 0;
  for (int64_t i = 0; i < element_count(out); ++i)  // little-endian: the low bytes
    std::memcpy(call.outputs[0] + static_cast<size_t>(i) * size, &fill, size);
  for (int64_t i = 0; i < element_count(in); ++i) {
    int64_t place = 0, stride = 1, rest = i;
    for (size_t axis = in.size(); axis-- > 0; rest /= in[axis]) {
      place += (rest % in[axis] + a.before[axis]) * stride;
      stride *= out[axis];
    }
    std::memcpy(call.outputs[0] + static_cast<size_t>(place) * size,
                call.inputs[0] + static_cast<size_t>(i) * size, size);
  }
  return {};
}

}  // namespace intarsia::graph
