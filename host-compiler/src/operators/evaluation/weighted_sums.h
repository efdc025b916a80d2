// Dot products of the reference evaluator with weights. Integers are accumulated modulo 2^32 (int16 operators: 2^64), which is
// exact whenever TFLite's result is defined.
#pragma once

#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include "graph/scales.h"
#include "intarsia/plugin/fixed_point.h"
#include "operators/evaluation/invocation.h"

namespace intarsia::operators {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Input element, accumulator and bias of one family.
struct Int8Types {
  using Element = int8_t;
  using Sum = uint32_t;
  using Bias = int32_t;
};

struct Int16Types {
  using Element = int16_t;
  using Sum = uint64_t;
  using Bias = int64_t;
};

struct Int16Bias32Types {
  using Element = int16_t;
  using Sum = uint32_t;
  using Bias = int32_t;
};

struct FloatTypes {
  using Element = float;
  using Sum = float;
  using Bias = float;
};

template <typename Kernel>
Result<void> by_types(const Invocation& call, Kernel&& kernel) {
  if (call.type() == DataType::Int8)
    kernel(Int8Types{});
  else if (call.type() == DataType::Int16 && call.has(2) && call.in(2).type == DataType::Int32)
    kernel(Int16Bias32Types{});
  else if (call.type() == DataType::Int16)
    kernel(Int16Types{});
  else if (call.type() == DataType::Float32)
    kernel(FloatTypes{});
  else
    return unsupported_types(call);
  return {};
}

// An integer as an accumulator: sign-extended, then modulo.
template <typename Sum>
Sum as_sum(int64_t value) {
  return static_cast<Sum>(value);
}

// The weights of rows first .. first+rows-1, each of `length` elements.
template <typename Sum>
Matrix<Sum> weight_rows(const Invocation& call, int64_t first, int64_t rows, int64_t length) {
  Matrix<Sum> matrix(rows, length);
  const int64_t start = first * length;
  for (int64_t i = 0; i < rows * length; ++i) {
    if constexpr (std::is_same_v<Sum, float>)
      matrix.data()[i] = call.data<float>(1)[start + i];
    else if (call.in(1).type == DataType::Int4)
      matrix.data()[i] = as_sum<Sum>(int4_element(call.data<uint8_t>(1), start + i));
    else if (call.in(1).type == DataType::Int16)
      matrix.data()[i] = as_sum<Sum>(call.data<int16_t>(1)[start + i]);
    else
      matrix.data()[i] = as_sum<Sum>(call.data<int8_t>(1)[start + i]);
  }
  return matrix;
}

template <typename Types>
typename Types::Sum input_value(const Invocation& call, int64_t index) {
  const auto element = call.data<typename Types::Element>(0)[index];
  if constexpr (std::is_same_v<Types, FloatTypes>)
    return element;
  else
    return as_sum<typename Types::Sum>(element - call.in_zero_point());
}

// Bias, scaling and activation: what turns a sum into an output element.
template <typename Types>
class Finish {
 public:
  using Element = typename Types::Element;
  using Sum = typename Types::Sum;

  Finish(const Invocation& call, graph::Activation activation, int64_t channels,
         double (*factor)(const graph::Tensor&, const graph::Tensor&, const graph::Tensor&, size_t))
      : bias_(call.data<typename Types::Bias>(2)) {
    if constexpr (std::is_same_v<Types, FloatTypes>) {
      floats_ = graph::float_range(activation);
    } else {
      integers_ = graph::quantized_range<Element>(activation, call.out());
      zero_point_ = call.out_zero_point();
      for (size_t i = 0; i < static_cast<size_t>(channels); ++i)
        factors_.push_back(graph::fixed_factor(factor(call.in(0), call.in(1), call.out(), i)));
    }
  }

  Element operator()(Sum sum, int64_t channel) const {
    if constexpr (std::is_same_v<Types, FloatTypes>) {
      return floats_.clamp(bias_ == nullptr ? sum : sum + bias_[channel]);
    } else {
      if (bias_ != nullptr) sum += as_sum<Sum>(bias_[channel]);
      const auto signed_sum = static_cast<std::make_signed_t<Sum>>(sum);
      return graph::requantized<Element>(
          graph::multiply(signed_sum, factors_[static_cast<size_t>(channel)]), zero_point_,
          integers_);
    }
  }

 private:
  const typename Types::Bias* bias_;
  graph::Range<float> floats_{};
  graph::Range<int64_t> integers_{};
  int64_t zero_point_ = 0;
  std::vector<graph::FixedFactor> factors_;
};

// Where the windows of a convolution lie in the image.
struct Geometry {
  int64_t height, width, channels;  // input
  int64_t out_height, out_width;
  int64_t filter_h, filter_w, stride_h, stride_w, dilation_h, dilation_w, top, left;

  template <typename Attrs>
  Geometry(const Invocation& call, const Attrs& a)
      : height(call.in().shape[1]),
        width(call.in().shape[2]),
        channels(call.in().shape[3]),
        out_height(call.out().shape[1]),
        out_width(call.out().shape[2]),
        filter_h(call.in(1).shape[1]),
        filter_w(call.in(1).shape[2]),
        stride_h(a.stride_h),
        stride_w(a.stride_w),
        dilation_h(a.dilation_h),
        dilation_w(a.dilation_w),
        top(a.padding.top),
        left(a.padding.left) {}

  // Row of the input under row `i` of the window at `out_y`; outside 0 .. height-1 in the padding.
  int64_t row(int64_t out_y, int64_t i) const { return out_y * stride_h - top + i * dilation_h; }
  int64_t column(int64_t out_x, int64_t i) const {
    return out_x * stride_w - left + i * dilation_w;
  }
  bool inside(int64_t y, int64_t x) const { return y >= 0 && y < height && x >= 0 && x < width; }
};

}  // namespace intarsia::operators
