#include <algorithm>

#include "intarsia/targets/ethos_u/arithmetic.h"
#include "intarsia/targets/ethos_u/execute_families.h"
#include "intarsia/targets/ethos_u/weight_stream.h"
#include "intarsia/targets/ethos_u/windows.h"

// Programs that take this file along may be compiled with little optimisation; the inner loops are
// worth vectorising anyway.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

namespace intarsia::simulators::ethos_u {
namespace {

// The number of products of a 9-bit weight and an element (of 9 bits, or of 16) fit 32 bits.
constexpr size_t kNarrowRun = 32768, kWideRun = 256;

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

class Convolution {
 public:
  Convolution(const Operation& op, const PaddedMap<int16_t>& ifm,
              const std::vector<int16_t>& weights, const std::vector<ChannelScale>& scales,
              const OutputStage& output)
      : op_(op),
        ifm_(ifm),
        weights_(weights),
        scales_(scales),
        output_(output),
        run_(element_bytes(op.ifm.type) == 1 ? kNarrowRun : kWideRun) {}

  void dense(OfmValues& ofm) const {
    const Kernel& kernel = op_.kernel;
    const auto depth = static_cast<size_t>(op_.ofm.depth);
    const auto width = static_cast<size_t>(kernel.width),
               height = static_cast<size_t>(kernel.height);
    const auto ifm_depth = static_cast<size_t>(ifm_.depth);
    // Without dilation in x a row of the window is contiguous.
    const bool whole_rows = kernel.dilation_x == 1;
    const size_t pieces = whole_rows ? 1 : width;
    const size_t piece = whole_rows ? width * ifm_depth : ifm_depth;
    const auto step = static_cast<size_t>(kernel.dilation_x) * ifm_depth;
    int32_t* to = ofm.data();
    for (int32_t y = 0; y < op_.ofm.height; ++y)
      for (int32_t x = 0; x < op_.ofm.width; ++x)
        for (size_t c = 0; c < depth; ++c) {
          const int16_t* weight = weights_.data() + c * height * width * ifm_depth;
          int64_t sum = 0;
          for (int32_t ky = 0; ky < kernel.height; ++ky) {
            const int16_t* row =
                ifm_.at(y * kernel.stride_y + ky * kernel.dilation_y, x * kernel.stride_x);
            for (size_t i = 0; i < pieces; ++i, weight += piece)
              sum += dot(row + i * step, weight, piece, run_);
          }
          *to++ = finish(sum, c);
        }
  }

  void depthwise(OfmValues& ofm) const {
    const Kernel& kernel = op_.kernel;
    const auto depth = static_cast<size_t>(op_.ofm.depth);
    const auto elements = static_cast<size_t>(kernel.width) * static_cast<size_t>(kernel.height);
    // [element][channel], so that channels are contiguous in both operands.
    std::vector<int16_t> by_element(elements * depth);
    for (size_t c = 0; c < depth; ++c)
      for (size_t e = 0; e < elements; ++e) by_element[e * depth + c] = weights_[c * elements + e];
    std::vector<int64_t> sums(depth);
    std::vector<int32_t> parts(depth);
    int32_t* to = ofm.data();
    for (int32_t y = 0; y < op_.ofm.height; ++y)
      for (int32_t x = 0; x < op_.ofm.width; ++x) {
        std::fill(sums.begin(), sums.end(), 0);
        const int16_t* weight = by_element.data();
        size_t held = 0;
        for (int32_t ky = 0; ky < kernel.height; ++ky)
          for (int32_t kx = 0; kx < kernel.width; ++kx, weight += depth) {
            const int16_t* row = ifm_.at(y * kernel.stride_y + ky * kernel.dilation_y,
                                         x * kernel.stride_x + kx * kernel.dilation_x);
            int32_t* part = parts.data();
            if (held == 0)
              for (size_t c = 0; c < depth; ++c) part[c] = row[c] * weight[c];
            else
              for (size_t c = 0; c < depth; ++c) part[c] += row[c] * weight[c];
            if (++held == run_) {
              for (size_t c = 0; c < depth; ++c) sums[c] += part[c];
              held = 0;
            }
          }
        if (held != 0)
          for (size_t c = 0; c < depth; ++c) sums[c] += parts[c];
        for (size_t c = 0; c < depth; ++c) *to++ = finish(sums[c], c);
      }
  }

 private:
  int32_t finish(int64_t sum, size_t channel) const {
    const ChannelScale& scale = scales_[channel];
    const bool wide = op_.accumulators == AccumulatorFormat::I40;
    const int64_t total = wide ? wrap40(sum + scale.bias) : wrap32(sum + scale.bias);
    return output_(
        scale_round(total, op_.global_scale ? op_.ofm_scale : scale.scale, op_.rounding));
  }

  const Operation& op_;
  const PaddedMap<int16_t>& ifm_;
  const std::vector<int16_t>& weights_;
  const std::vector<ChannelScale>& scales_;
  const OutputStage& output_;
  size_t run_;
};

// Weights as decoded, padding of the traversal included, at its worst.
bool weights_fit(const Operation& op) {
  const int64_t ofm = (op.ofm.depth + 15) / 8 * 8;
  const int64_t ifm = op.kind == OperationKind::Depthwise ? 1 : (op.ifm.depth + 31) / 32 * 32;
  // Each sub-kernel of at most 8 x 8 has its elements in groups of four.
  const int64_t width = op.kernel.width, height = op.kernel.height;
  const int64_t elements = width * height + 3 * ((width + 7) / 8) * ((height + 7) / 8);
  return elements <= (int64_t{1} << 28) / (ofm * ifm);
}

}  // namespace

std::optional<Fault> execute_convolution(const Operation& op, const Configuration& configuration,
                                         const Memory& memory, const OutputStage& output,
                                         OfmValues& ofm) {
  const int64_t zero = op.ifm.zero_point;
  if (zero < lowest(op.ifm.type) || zero > highest(op.ifm.type) ||
      (op.ifm.type == ElementType::S16 && zero != 0))
    return Fault{Cause::Operand, 0, "",
                 "IFM_ZERO_POINT " + std::to_string(zero) + " does not fit the IFM's type"};
  if (!weights_fit(op))
    return Fault{Cause::Operand, 0, "", "the weights are more than a simulation takes"};
  std::vector<int16_t> weights;
  if (auto fault = load_weights(op, configuration, memory, weights)) return fault;
  std::vector<ChannelScale> scales;
  if (auto fault = load_scales(op, memory, scales)) return fault;
  const PaddedMap<int16_t> ifm = padded_ifm<int16_t>(op, memory, 0);
  const Convolution convolution(op, ifm, weights, scales, output);
  if (op.kind == OperationKind::Depthwise)
    convolution.depthwise(ofm);
  else
    convolution.dense(ofm);
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
