#include <algorithm>
#include <limits>

#include "intarsia/targets/ethos_u/arithmetic.h"
#include "intarsia/targets/ethos_u/execute_families.h"
#include "intarsia/targets/ethos_u/windows.h"

namespace intarsia::simulators::ethos_u {
namespace {

constexpr int32_t kNothing = std::numeric_limits<int32_t>::min();

// Rows and columns of a window that are not padding.
int64_t valid_count(const Operation& op, int32_t y, int32_t x) {
  const auto valid = [](int32_t first, int32_t size, int32_t dilation, int32_t before,
                        int32_t inside) {
    int64_t count = 0;
    for (int32_t k = 0; k < size; ++k) {
      const int32_t at = first + k * dilation - before;
      count += at >= 0 && at < inside;
    }
    return count;
  };
  return valid(y * op.kernel.stride_y, op.kernel.height, op.kernel.dilation_y, op.padding.top,
               op.upscaled_height) *
         valid(x * op.kernel.stride_x, op.kernel.width, op.kernel.dilation_x, op.padding.left,
               op.upscaled_width);
}

// To nearest, halves away from zero: TFLite's average.
int64_t rounded_quotient(int64_t sum, int64_t count) {
  if (count == 0) return 0;
  return sum >= 0 ? (sum + count / 2) / count : -((-sum + count / 2) / count);
}

// An average with padding, and any without a global scale, is divided by the device by what lies inside of
// the IFM. Arm's newer compilers ask for a global scale beside padding too: 1, without a shift.
bool device_divides(const Operation& op) {
  return !op.global_scale || op.padding.any();
}

template <typename Combine>
void over_window(const Operation& op, const PaddedMap<int32_t>& ifm, int32_t y, int32_t x,
                 const Combine& combine) {
  for (int32_t ky = 0; ky < op.kernel.height; ++ky)
    for (int32_t kx = 0; kx < op.kernel.width; ++kx)
      combine(ifm.at(y * op.kernel.stride_y + ky * op.kernel.dilation_y,
                     x * op.kernel.stride_x + kx * op.kernel.dilation_x));
}

void max_pool(const Operation& op, const Memory& memory, const OutputStage& output,
              OfmValues& ofm) {
  const PaddedMap<int32_t> ifm = padded_ifm<int32_t>(op, memory, kNothing);
  const auto depth = static_cast<size_t>(op.ofm.depth);
  std::vector<int32_t> most(depth);
  int32_t* to = ofm.data();
  for (int32_t y = 0; y < op.ofm.height; ++y)
    for (int32_t x = 0; x < op.ofm.width; ++x) {
      std::fill(most.begin(), most.end(), kNothing);
      over_window(op, ifm, y, x, [&](const int32_t* row) {
        for (size_t c = 0; c < depth; ++c) most[c] = std::max(most[c], row[c]);
      });
      for (size_t c = 0; c < depth; ++c)
        *to++ = output(op.global_scale ? scale_round(most[c], op.ofm_scale, op.rounding) : most[c]);
    }
}

void average_pool(const Operation& op, const Memory& memory, const OutputStage& output,
                  OfmValues& ofm) {
  const PaddedMap<int32_t> ifm = padded_ifm<int32_t>(op, memory, 0);
  const auto depth = static_cast<size_t>(op.ofm.depth);
  std::vector<int64_t> sums(depth);
  const bool divides = device_divides(op);
  int32_t* to = ofm.data();
  for (int32_t y = 0; y < op.ofm.height; ++y)
    for (int32_t x = 0; x < op.ofm.width; ++x) {
      std::fill(sums.begin(), sums.end(), 0);
      over_window(op, ifm, y, x, [&](const int32_t* row) {
        for (size_t c = 0; c < depth; ++c) sums[c] += row[c];
      });
      const int64_t count = divides ? valid_count(op, y, x) : 1;
      for (size_t c = 0; c < depth; ++c)
        *to++ = output(divides ? rounded_quotient(sums[c], count)
                               : scale_round(sums[c], op.ofm_scale, op.rounding));
    }
}

// The sum over the channels (and the window, which is 1x1 in all that is known).
void reduce_sum(const Operation& op, const Memory& memory, const OutputStage& output,
                OfmValues& ofm) {
  const PaddedMap<int32_t> ifm = padded_ifm<int32_t>(op, memory, 0);
  const auto depth = static_cast<size_t>(op.ifm.depth);
  int32_t* to = ofm.data();
  for (int32_t y = 0; y < op.ofm.height; ++y)
    for (int32_t x = 0; x < op.ofm.width; ++x) {
      int64_t sum = 0;
      over_window(op, ifm, y, x, [&](const int32_t* row) {
        for (size_t c = 0; c < depth; ++c) sum += row[c];
      });
      const int64_t total = op.accumulators == AccumulatorFormat::I40 ? wrap40(sum) : wrap32(sum);
      *to++ = output(op.global_scale ? scale_round(total, op.ofm_scale, op.rounding) : total);
    }
}

}  // namespace

std::optional<Fault> execute_pool(const Operation& op, const Memory& memory,
                                  const OutputStage& output, OfmValues& ofm) {
  switch (op.pooling) {
    case PoolingMode::Max:
      max_pool(op, memory, output, ofm);
      break;
    case PoolingMode::Average:
      if (op.global_scale && device_divides(op) &&
          (op.ofm_scale.multiplier != 1 || op.ofm_scale.shift != 0))
        return Fault{
            Cause::Operand, 0, "",
            "an average with padding and a scale of its own: what the device does is not known"};
      average_pool(op, memory, output, ofm);
      break;
    case PoolingMode::ReduceSum:
      reduce_sum(op, memory, output, ofm);
      break;
  }
  return std::nullopt;
}

}  // namespace intarsia::simulators::ethos_u
