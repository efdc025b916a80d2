// Pooling and reductions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "graph/fixed_point.h"
#include "graph/kernels.h"
#include "graph/scales.h"

namespace intarsia::graph {
namespace {

using enum DataType;

template <typename T>
class Average {
 public:
  void add(T value) {
    sum_ += value;
    ++count_;
  }
  T value() const {
    if constexpr (std::is_same_v<T, float>) {
      return sum_ / static_cast<float>(count_);
    } else {  // to nearest, ties away from zero
      const int64_t half = count_ / 2;
      return static_cast<T>((sum_ > 0 ? sum_ + half : sum_ - half) / count_);
    }
  }

 private:
  std::conditional_t<std::is_same_v<T, float>, float, int64_t> sum_ = 0;
  int64_t count_ = 0;
};

class RootOfMeanSquare {
 public:
  void add(float value) {
    sum_ += value * value;
    ++count_;
  }
  float value() const { return std::sqrt(sum_ / static_cast<float>(count_)); }

 private:
  float sum_ = 0;
  int64_t count_ = 0;
};

template <typename T>
class Maximum {
 public:
  void add(T value) { largest_ = std::max(largest_, value); }
  T value() const { return largest_; }

 private:
  T largest_ = std::numeric_limits<T>::lowest();
};

template <typename T>
T activated(T value, Activation activation, const Tensor& output) {
  if constexpr (std::is_same_v<T, float>)
    return float_range(activation).clamp(value);
  else
    return static_cast<T>(quantized_range<T>(activation, output).clamp(value));
}

template <typename T, typename Reduction>
void pool(const Invocation& call) {
  const auto& a = call.node.attrs<Pool2dAttrs>();
  const Shape &in = call.in().shape, &out = call.out().shape;
  const int64_t channels = in[3];
  const T* input = call.data<T>(0);
  for (int64_t i = 0; i < element_count(out); ++i) {
    const int64_t channel = i % channels, place = i / channels;
    const int64_t x = place % out[2] * a.stride_w - a.padding.left;
    const int64_t y = place / out[2] % out[1] * a.stride_h - a.padding.top;
    const int64_t batch = place / out[2] / out[1];
    Reduction reduction;
    for (int64_t in_y = std::max<int64_t>(y, 0); in_y < std::min(y + a.filter_h, in[1]); ++in_y)
      for (int64_t in_x = std::max<int64_t>(x, 0); in_x < std::min(x + a.filter_w, in[2]); ++in_x)
        reduction.add(input[((batch * in[1] + in_y) * in[2] + in_x) * channels + channel]);
    call.result<T>()[i] = activated(reduction.value(), a.activation, call.out());
  }
}

// For every element of the input the element of the output that it is reduced into.
std::vector<int64_t> reduced_places(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<int64_t> stride(shape.size(), 0);  // of the output; 0 along reduced axes
  int64_t next = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(axis))) continue;
    stride[axis] = next;
    next *= shape[axis];
  }
  std::vector<int64_t> places(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < places.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      places[i] += rest % shape[axis] * stride[axis];
  }
  return places;
}

template <typename T>
void sum_integers(const Invocation& call, const std::vector<int64_t>& places, int64_t count) {
  const auto outputs = static_cast<size_t>(element_count(call.out().shape));
  std::vector<int32_t> sums(outputs);
  for (size_t i = 0; i < places.size(); ++i) {
    int32_t& sum = sums[static_cast<size_t>(places[i])];
    sum = wrapping_add(sum, call.data<T>(0)[i]);
  }
  FixedFactor factor = fixed_factor(rescale_factor(call.in(), call.out()));
  if (call.node.kind == OpKind::Mean) {
    // The division is part of the factor: shifted left as far as the count's size lets it keep
    // bits.
    int shift = 0;
    while (shift < 32 && (count >> (shift + 1)) != 0) ++shift;
    shift = std::min(shift, 31 + factor.shift);
    factor.value = static_cast<int32_t>((static_cast<int64_t>(factor.value) << shift) / count);
    factor.shift -= shift;
  }

  const Range<int64_t> range = quantized_range<T>(Activation::None, call.out());
  const auto zeros = static_cast<int32_t>(call.in_zero_point() * count);
  for (size_t i = 0; i < outputs; ++i)
    call.result<T>()[i] = requantized<T>(multiply(wrapping_sub(sums[i], zeros), factor),
                                         call.out_zero_point(), range);
}

}  // namespace

Result<void> eval_pool2d(const Invocation& call) {
  if (call.node.kind == OpKind::L2Pool2d) {
    pool<float, RootOfMeanSquare>(call);
    return {};
  }
  const bool average = call.node.kind == OpKind::AveragePool2d;
  const auto run = [&]<typename T>(T) {
    average ? pool<T, Average<T>>(call) : pool<T, Maximum<T>>(call);
    return Result<void>();
  };
  if (call.type() == Int8) return run(int8_t{});
  if (call.type() == Int16) return run(int16_t{});
  if (call.type() == Float32) return run(float{});
  return unsupported_types(call);
}

Result<void> eval_reduce(const Invocation& call) {
  const std::vector<int64_t> places =
      reduced_places(call.in().shape, call.node.attrs<ReduceAttrs>().axes);
  const auto outputs = static_cast<size_t>(element_count(call.out().shape));
  const auto count = static_cast<int64_t>(places.size() / outputs);
  const auto extreme = [&]<typename T>(T) {
    const bool largest = call.node.kind == OpKind::ReduceMax;
    T* out = call.result<T>();
    std::fill_n(out, outputs,
                largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
    for (size_t i = 0; i < places.size(); ++i) {
      const T value = call.data<T>(0)[i];
      T& place = out[places[i]];
      place = largest ? std::max(place, value) : std::min(place, value);
    }
    return Result<void>();
  };
  const auto folded = [&]<typename T>(T start, auto&& step) {
    T* out = call.result<T>();
    std::fill_n(out, outputs, start);
    for (size_t i = 0; i < places.size(); ++i)
      out[places[i]] = step(out[places[i]], call.data<T>(0)[i]);
    return Result<void>();
  };
  if (call.node.kind == OpKind::ReduceAny)
    return folded(uint8_t{0}, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a | b); });
  if (call.node.kind == OpKind::ReduceAll)
    return folded(uint8_t{1}, [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a & b); });
  if (call.node.kind == OpKind::ReduceProd)
    return call.type() == Int32
               ? folded(int32_t{1}, [](int32_t a, int32_t b) { return wrapping_mul(a, b); })
               : folded(1.0f, [](float a, float b) { return a * b; });
  if (call.node.kind == OpKind::ReduceMax || call.node.kind == OpKind::ReduceMin) {
    if (call.type() == Int8) return extreme(int8_t{});
    if (call.type() == Int16) return extreme(int16_t{});
    if (call.type() == Float32) return extreme(float{});
    return unsupported_types(call);
  }
  if (call.type() == Int8) {
    sum_integers<int8_t>(call, places, count);
  } else if (call.type() == Int16) {
    sum_integers<int16_t>(call, places, count);
  } else if (call.type() == Float32) {
    auto* out = call.result<float>();
    std::fill_n(out, outputs, 0.0f);
    for (size_t i = 0; i < places.size(); ++i) out[places[i]] += call.data<float>(0)[i];
    if (call.node.kind == OpKind::Mean)
      for (size_t i = 0; i < outputs; ++i) out[i] /= static_cast<float>(count);
  } else {
    return unsupported_types(call);
  }
  return {};
}

}  // namespace intarsia::graph
