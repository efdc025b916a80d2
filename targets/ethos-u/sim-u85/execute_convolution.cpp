#include <algorithm>

#include "intarsia/targets/ethos_u/feature_map.h"
#include "intarsia/targets/ethos_u85/execute.h"
#include "intarsia/targets/ethos_u85/weights.h"

// Programs that take this file along may be compiled with little optimisation; the inner loops are worth vectorising anyway.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace intarsia::simulators::ethos_u85 {
namespace {

// How many products of 9-bit values, and how many with a factor of 16 bits, fit 32 bits; of two factors of 16 bits one.
constexpr size_t kShortRun = 32768, kMixedRun = 256;

int64_t dot(const int16_t* a, const int16_t* b, size_t count, size_t run) {
  int64_t sum = 0;
  while (count > 0) {
    const size_t now = std::min(count, run);
    int32_t part = 0;
    for (size_t i = 0; i < now; ++i) part += a[i] * b[i];
    sum += part;
    a += now;
    b += now;
    count -= now;
  }
  return sum;
}

// The IFM minus its zero point with zeros around it.
struct PaddedIfm {
  int32_t width, height, depth;
  std::vector<int16_t> elements;  // [y][x][c]

  PaddedIfm(const Operation& op, const Memory& memory)
      : width(op.ifm.map.width + op.padding.left + op.padding.right),
        height(op.ifm.map.height + op.padding.top + op.padding.bottom),
        depth(op.ifm.map.depth),
        elements(ethos_u::gather<int16_t>(op.ifm.map, memory)) {
    if (!op.padding.any()) return;
    std::vector<int16_t> padded(static_cast<size_t>(width) * static_cast<size_t>(height) *
                                static_cast<size_t>(depth));
    const size_t row = static_cast<size_t>(op.ifm.map.width) * static_cast<size_t>(depth);
    for (int32_t y = 0; y < op.ifm.map.height; ++y)
      std::copy_n(elements.data() + static_cast<size_t>(y) * row, row,
                  padded.data() + index(y + op.padding.top, op.padding.left));
    elements = std::move(padded);
  }
  size_t index(int32_t y, int32_t x) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width) + static_cast<size_t>(x)) *
           static_cast<size_t>(depth);
  }
  const int16_t* at(int32_t y, int32_t x) const { return elements.data() + index(y, x); }
};

void sum_dense(const Operation& op, const PaddedIfm& ifm, const std::vector<int16_t>& weights,
               size_t run, Results& sums) {
  const Kernel& kernel = op.kernel;
  const auto ifm_depth = static_cast<size_t>(ifm.depth);
  const auto width = static_cast<size_t>(kernel.width), height = static_cast<size_t>(kernel.height);
  // Without dilation in x a row of the window is contiguous.
  const bool whole_rows = kernel.dilation_x == 1;
  const size_t pieces = whole_rows ? 1 : width;
  const size_t piece = whole_rows ? width * ifm_depth : ifm_depth;
  const auto step = static_cast<size_t>(kernel.dilation_x) * ifm_depth;
  int64_t* to = sums.data();
  for (int32_t y = 0; y < op.ofm_height; ++y)
    for (int32_t x = 0; x < op.ofm_width; ++x)
      for (size_t c = 0; c < static_cast<size_t>(op.ofm_depth); ++c) {
        const int16_t* weight = weights.data() + c * height * width * ifm_depth;
        int64_t sum = 0;
        for (int32_t ky = 0; ky < kernel.height; ++ky) {
          const int16_t* row =
              ifm.at(y * kernel.stride_y + ky * kernel.dilation_y, x * kernel.stride_x);
          for (size_t i = 0; i < pieces; ++i, weight += piece)
            sum += dot(row + i * step, weight, piece, run);
        }
        *to++ = sum;
      }
}

void sum_depthwise(const Operation& op, const PaddedIfm& ifm, const std::vector<int16_t>& weights,
                   Results& sums) {
  const Kernel& kernel = op.kernel;
  const auto depth = static_cast<size_t>(op.ofm_depth);
  const auto elements = static_cast<size_t>(kernel.width) * static_cast<size_t>(kernel.height);
  // [element][channel], so that channels are contiguous in both operands.
  std::vector<int16_t> by_element(elements * depth);
  for (size_t c = 0; c < depth; ++c)
    for (size_t e = 0; e < elements; ++e) by_element[e * depth + c] = weights[c * elements + e];
  int64_t* to = sums.data();
  for (int32_t y = 0; y < op.ofm_height; ++y)
    for (int32_t x = 0; x < op.ofm_width; ++x, to += depth) {
      const int16_t* weight = by_element.data();
      for (int32_t ky = 0; ky < kernel.height; ++ky)
        for (int32_t kx = 0; kx < kernel.width; ++kx, weight += depth) {
          const int16_t* row = ifm.at(y * kernel.stride_y + ky * kernel.dilation_y,
                                      x * kernel.stride_x + kx * kernel.dilation_x);
          for (size_t c = 0; c < depth; ++c) to[c] += row[c] * weight[c];
        }
    }
}

}  // namespace

std::optional<Fault> sum_convolution(const Operation& op, const Configuration& configuration,
                                     const Memory& memory, Results& sums) {
  std::vector<int16_t> weights;
  size_t run = element_bytes(op.ifm.map.type) == 1 ? kShortRun : kMixedRun;
  if (op.dynamic_weights) {
    const FeatureMap& map = op.ifm2.map;
    const int64_t zero = map.zero_point;
    if (element_bytes(map.type) > 2 || map.type == ElementType::U16 || zero < lowest(map.type) ||
        zero > highest(map.type) || (map.type == ElementType::S16 && zero != 0))
      return Fault{Cause::Operand, 0, "",
                   "weights of a feature map are of U8, S8 or, without a zero point, S16"};
    weights = ethos_u::gather<int16_t>(map, memory);
    if (element_bytes(map.type) == 2) run = run == kShortRun ? kMixedRun : 1;
  } else if (auto fault = load_weights(op, configuration, memory, weights)) {
    return fault;
  }
  const PaddedIfm ifm(op, memory);
  if (op.kind == OperationKind::Depthwise)
    sum_depthwise(op, ifm, weights, sums);
  else
    sum_dense(op, ifm, weights, run, sums);
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u85
