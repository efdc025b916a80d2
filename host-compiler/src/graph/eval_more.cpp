// Operators that few models have.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/op_check.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

// Sums of int8 on the scale that add_n and cumsum work on. TFLite Micro's begin with the zero point once
// more than there are elements.
class FixedSum {
 public:
  explicit FixedSum(const Invocation& call)
      : factors_(add_factors(call.in(0), call.in(0), call.out())),
        in_(fixed_factor(factors_.a)),
        out_(fixed_factor(factors_.output)),
        in_zero_(static_cast<int32_t>(call.in_zero_point())),
        out_zero_(call.out_zero_point()),
        range_(quantized_range<int8_t>(Activation::None, call.out())) {}

  int32_t scaled(int8_t x) const {
    return multiply(wrapping_mul(x - in_zero_, 1 << factors_.left_shift), in_);
  }
  int32_t start() const { return scaled(0); }
  int8_t result(int32_t sum) const {
    return requantized<int8_t>(multiply(sum, out_), out_zero_, range_);
  }

 private:
  AddFactors factors_;
  FixedFactor in_, out_;
  int32_t in_zero_;
  int64_t out_zero_;
  Range<int64_t> range_;
};

template <typename T, typename Sum, typename Scaled, typename Finished>
void running_sums(const Invocation& call, Sum zero, Scaled&& scaled, Finished&& finished) {
  const auto& a = call.node.attrs<CumsumAttrs>();
  const Shape& shape = call.in().shape;
  int64_t inner = 1;
  for (size_t axis = shape.size(); axis-- > static_cast<size_t>(a.axis) + 1;) inner *= shape[axis];
  const int64_t extent = shape[static_cast<size_t>(a.axis)];
  for (int64_t row = 0; row < element_count(shape) / extent; ++row) {
    Sum sum = zero;
    for (int64_t k = 0; k < extent; ++k) {
      const int64_t along = a.reverse ? extent - 1 - k : k;
      const int64_t at = (row / inner * extent + along) * inner + row % inner;
      if (a.exclusive) call.result<T>()[at] = finished(sum);
      sum = sum + scaled(call.data<T>(0)[at]);
      if (!a.exclusive) call.result<T>()[at] = finished(sum);
    }
  }
}

}  // namespace

Result<void> eval_add_n(const Invocation& call) {
  const int64_t count = element_count(call.out().shape);
  if (call.type() == Float32) {
    for (int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (size_t input = 0; input < call.inputs.size(); ++input) sum += call.data<float>(input)[i];
      call.result<float>()[i] = sum;
    }
    return {};
  }
  const FixedSum fixed(call);
  for (int64_t i = 0; i < count; ++i) {
    int32_t sum = fixed.start();
    for (size_t input = 0; input < call.inputs.size(); ++input)
      sum = wrapping_add(sum, fixed.scaled(call.data<int8_t>(input)[i]));
    call.result<int8_t>()[i] = fixed.result(sum);
  }
  return {};
}

Result<void> eval_cumsum(const Invocation& call) {
  if (call.type() == Float32) {
    const auto same = [](float x) { return x; };
    running_sums<float>(call, 0.0f, same, same);
    return {};
  }
  const FixedSum fixed(call);
  struct Wrapping {
    int32_t value;
    Wrapping operator+(int32_t x) const { return {wrapping_add(value, x)}; }
  };
  running_sums<int8_t>(
      call, Wrapping{fixed.start()}, [&](int8_t x) { return fixed.scaled(x); },
      [&](Wrapping sum) { return fixed.result(sum.value); });
  return {};
}

// The element of a row of indices is a slice of the remaining axes.
Result<void> eval_gather_nd(const Invocation& call) {
  const Shape &data = call.in(0).shape, &indices = call.in(1).shape;
  const auto depth = static_cast<size_t>(indices.back());
  int64_t run = 1;
  for (size_t axis = depth; axis < data.size(); ++axis) run *= data[axis];
  const auto size = static_cast<size_t>(run * bits(call.type()) / 8);
  for (int64_t row = 0; row < element_count(indices) / indices.back(); ++row) {
    int64_t place = 0;
    for (size_t axis = 0; axis < depth; ++axis) {
      const int32_t index = call.data<int32_t>(1)[static_cast<size_t>(row) * depth + axis];
      if (index < 0 || index >= data[axis])
        return Diagnostics(place_of(call.function, call.node), "index " + std::to_string(index) +
                                                                   " is outside 0 .. " +
                                                                   std::to_string(data[axis] - 1));
      place = place * data[axis] + index;
    }
    std::memcpy(call.outputs[0] + static_cast<size_t>(row) * size,
                call.inputs[0] + static_cast<size_t>(place) * size, size);
  }
  return {};
}

Result<void> eval_dynamic_update_slice(const Invocation& call) {
  const Shape &shape = call.in(0).shape, &update = call.in(1).shape;
  const auto size = static_cast<size_t>(bits(call.type()) / 8);
  std::memcpy(call.outputs[0], call.inputs[0], static_cast<size_t>(call.in().bytes()));
  for (int64_t i = 0; i < element_count(update); ++i) {
    int64_t rest = i, place = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; rest /= update[axis]) {
      const int64_t start =
          std::clamp<int64_t>(call.data<int32_t>(2)[axis], 0, shape[axis] - update[axis]);
      place += (start + rest % update[axis]) * stride;
      stride *= shape[axis];
    }
    std::memcpy(call.outputs[0] + static_cast<size_t>(place) * size,
                call.inputs[1] + static_cast<size_t>(i) * size, size);
  }
  return {};
}

}  // namespace intarsia::graph
