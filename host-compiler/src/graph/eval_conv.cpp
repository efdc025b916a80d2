// Convolutions and fully connected layers. The dot products of one image row are one matrix
// product: the patches under the window, with the zero point taken off, times the weights. Integers
// are accumulated modulo 2^32 (int16 operators: 2^64), which is exact whenever TFLite's result is
// defined.
#include <Eigen/Core>
#include <type_traits>

#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

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
  if (call.type() == Int8)
    kernel(Int8Types{});
  else if (call.type() == Int16 && call.has(2) && call.in(2).type == Int32)
    kernel(Int16Bias32Types{});
  else if (call.type() == Int16)
    kernel(Int16Types{});
  else if (call.type() == Float32)
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
    else if (call.in(1).type == Int4)
      matrix.data()[i] = as_sum<Sum>(int4_element(call.data<uint8_t>(1), start + i));
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

  Finish(const Invocation& call, Activation activation, int64_t channels,
         double (*factor)(const Tensor&, const Tensor&, const Tensor&, size_t))
      : bias_(call.data<typename Types::Bias>(2)) {
    if constexpr (std::is_same_v<Types, FloatTypes>) {
      floats_ = float_range(activation);
    } else {
      integers_ = quantized_range<Element>(activation, call.out());
      zero_point_ = call.out_zero_point();
      for (size_t i = 0; i < static_cast<size_t>(channels); ++i)
        factors_.push_back(fixed_factor(factor(call.in(0), call.in(1), call.out(), i)));
    }
  }

  Element operator()(Sum sum, int64_t channel) const {
    if constexpr (std::is_same_v<Types, FloatTypes>) {
      return floats_.clamp(bias_ == nullptr ? sum : sum + bias_[channel]);
    } else {
      if (bias_ != nullptr) sum += as_sum<Sum>(bias_[channel]);
      const auto signed_sum = static_cast<std::make_signed_t<Sum>>(sum);
      return requantized<Element>(multiply(signed_sum, factors_[static_cast<size_t>(channel)]),
                                  zero_point_, integers_);
    }
  }

 private:
  const typename Types::Bias* bias_;
  Range<float> floats_{};
  Range<int64_t> integers_{};
  int64_t zero_point_ = 0;
  std::vector<FixedFactor> factors_;
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

template <typename Types>
void convolve(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<Conv2dAttrs>();
  const Geometry g(call, a);
  const int64_t batches = call.in().shape[0], filters = call.out().shape[3];
  const int64_t depth = call.in(1).shape[3], groups = g.channels / depth;
  const int64_t group_filters = filters / groups, patch = g.filter_h * g.filter_w * depth;
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  auto* out = call.result<typename Types::Element>();

  Matrix<Sum> patches(g.out_width, patch), sums(g.out_width, group_filters);
  for (int64_t group = 0; group < groups; ++group) {
    const Matrix<Sum> weights = weight_rows<Sum>(call, group * group_filters, group_filters, patch);
    for (int64_t row = 0; row < batches * g.out_height; ++row) {
      const int64_t batch = row / g.out_height, out_y = row % g.out_height;
      patches.setZero();
      for (int64_t out_x = 0; out_x < g.out_width; ++out_x)
        for (int64_t i = 0; i < g.filter_h * g.filter_w; ++i) {
          const int64_t y = g.row(out_y, i / g.filter_w), x = g.column(out_x, i % g.filter_w);
          if (!g.inside(y, x)) continue;
          const int64_t from = ((batch * g.height + y) * g.width + x) * g.channels + group * depth;
          for (int64_t c = 0; c < depth; ++c)
            patches(out_x, i * depth + c) = input_value<Types>(call, from + c);
        }
      sums.noalias() = patches * weights.transpose();
      for (int64_t out_x = 0; out_x < g.out_width; ++out_x)
        for (int64_t c = 0; c < group_filters; ++c) {
          const int64_t channel = group * group_filters + c;
          out[(row * g.out_width + out_x) * filters + channel] = finish(sums(out_x, c), channel);
        }
    }
  }
}

template <typename Types>
void convolve_depthwise(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<DepthwiseConv2dAttrs>();
  const Geometry g(call, a);
  const int64_t batches = call.in().shape[0], filters = call.out().shape[3];
  const Matrix<Sum> weights = weight_rows<Sum>(call, 0, g.filter_h * g.filter_w, filters);
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  auto* out = call.result<typename Types::Element>();

  std::vector<Sum> sums(static_cast<size_t>(filters));
  for (int64_t place = 0; place < batches * g.out_height * g.out_width; ++place) {
    const int64_t out_x = place % g.out_width, row = place / g.out_width;
    const int64_t out_y = row % g.out_height, batch = row / g.out_height;
    std::fill(sums.begin(), sums.end(), Sum{});
    for (int64_t i = 0; i < g.filter_h * g.filter_w; ++i) {
      const int64_t y = g.row(out_y, i / g.filter_w), x = g.column(out_x, i % g.filter_w);
      if (!g.inside(y, x)) continue;
      const int64_t from = ((batch * g.height + y) * g.width + x) * g.channels;
      for (int64_t c = 0; c < filters; ++c)
        sums[static_cast<size_t>(c)] +=
            input_value<Types>(call, from + c / a.multiplier) * weights(i, c);
    }
    for (int64_t c = 0; c < filters; ++c)
      out[place * filters + c] = finish(sums[static_cast<size_t>(c)], c);
  }
}

// Every input element is spread over a window of the output.
template <typename Types>
void convolve_transposed(const Invocation& call) {
  using Sum = typename Types::Sum;
  const auto& a = call.node.attrs<TransposeConv2dAttrs>();
  const Shape &in = call.in().shape, &w = call.in(1).shape, &out = call.out().shape;
  const int64_t filters = out[3], depth = in[3], patch = w[1] * w[2] * depth;
  const Finish<Types> finish(call, a.activation, filters, convolution_factor);
  const Matrix<Sum> weights = weight_rows<Sum>(call, 0, filters, patch);
  std::vector<Sum> sums(static_cast<size_t>(element_count(out)));
  std::vector<Sum> pixel(static_cast<size_t>(depth));
  for (int64_t place = 0; place < in[0] * in[1] * in[2]; ++place) {
    const int64_t left = place % in[2] * a.stride_w - a.pad_left;
    const int64_t top = place / in[2] % in[1] * a.stride_h - a.pad_top;
    const int64_t batch = place / in[2] / in[1];
    for (int64_t c = 0; c < depth; ++c)
      pixel[static_cast<size_t>(c)] = input_value<Types>(call, place * depth + c);
    for (int64_t i = 0; i < w[1] * w[2]; ++i) {
      const int64_t y = top + i / w[2], x = left + i % w[2];
      if (y < 0 || y >= out[1] || x < 0 || x >= out[2]) continue;
      Sum* sum = &sums[static_cast<size_t>(((batch * out[1] + y) * out[2] + x) * filters)];
      for (int64_t filter = 0; filter < filters; ++filter)
        for (int64_t c = 0; c < depth; ++c)
          sum[filter] += pixel[static_cast<size_t>(c)] * weights(filter, i * depth + c);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    call.result<typename Types::Element>()[i] = finish(sums[i], static_cast<int64_t>(i) % filters);
}

template <typename Types>
void connect(const Invocation& call) {
  using Sum = typename Types::Sum;
  const int64_t filters = call.in(1).shape[0], depth = call.in(1).shape[1];
  const int64_t rows = element_count(call.in().shape) / depth;
  const Finish<Types> finish(call, call.node.attrs<FullyConnectedAttrs>().activation, filters,
                             fully_connected_factor);
  Matrix<Sum> input(rows, depth);
  for (int64_t i = 0; i < rows * depth; ++i) input.data()[i] = input_value<Types>(call, i);
  const Matrix<Sum> sums = input * weight_rows<Sum>(call, 0, filters, depth).transpose();
  for (int64_t i = 0; i < rows * filters; ++i)
    call.result<typename Types::Element>()[i] = finish(sums.data()[i], i % filters);
}

}  // namespace

Result<void> eval_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve<decltype(types)>(call); });
}

Result<void> eval_depthwise_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve_depthwise<decltype(types)>(call); });
}

Result<void> eval_transpose_conv2d(const Invocation& call) {
  return by_types(call, [&](auto types) { convolve_transposed<decltype(types)>(call); });
}

Result<void> eval_fully_connected(const Invocation& call) {
  return by_types(call, [&](auto types) { connect<decltype(types)>(call); });
}

}  // namespace intarsia::graph
