#include <algorithm>
#include <bit>

#include "intarsia/targets/ethos_u/feature_map.h"
#include "intarsia/targets/ethos_u85/arithmetic.h"
#include "intarsia/targets/ethos_u85/execute.h"

namespace intarsia::simulators::ethos_u85 {
namespace {

Fault pool_fault(const char* what) {
  return {Cause::Operand, 0, "", what};
}

// A sum divided by how many elements it has; halves go away from zero.
int64_t divided(int64_t sum, int32_t count) {
  const int32_t shift = 30 + static_cast<int32_t>(std::bit_width(static_cast<uint32_t>(count - 1)));
  const int64_t multiplier = ((int64_t{1} << shift) + (int64_t{1} << (shift - 30))) / count;
  return shift_round<Int128>(Int128{sum} * multiplier, shift, Rounding::Natural);
}

// The elements of a window that are not padding, in the rows and columns of the IFM.
struct Window {
  int32_t y0, y1, x0, x1;
  Window(const Operation& op, int32_t y, int32_t x)
      : y0(y * op.kernel.stride_y - op.padding.top), x0(x * op.kernel.stride_x - op.padding.left) {
    y1 = std::min(y0 + op.kernel.height, op.ifm.map.height);
    x1 = std::min(x0 + op.kernel.width, op.ifm.map.width);
    y0 = std::max(y0, 0);
    x0 = std::max(x0, 0);
  }
  int32_t elements() const { return std::max(0, y1 - y0) * std::max(0, x1 - x0); }
};

class Pooling {
 public:
  Pooling(const Operation& op, const Memory& memory)
      : op_(op),
        width_(static_cast<size_t>(op.ifm.map.width)),
        depth_(static_cast<size_t>(op.ifm.map.depth)),
        ifm_(ethos_u::gather<int64_t>(op.ifm.map, memory)) {}

  std::optional<Fault> run(Results& sums) const {
    int64_t* to = sums.data();
    for (int32_t y = 0; y < op_.ofm_height; ++y)
      for (int32_t x = 0; x < op_.ofm_width; ++x, to += op_.ofm_depth) {
        const Window window(op_, y, x);
        switch (op_.pooling) {
          case PoolingMode::Max:
            std::fill_n(to, depth_, INT32_MIN);
            each(window, to, [](int64_t a, int64_t b) { return std::max(a, b); });
            break;
          case PoolingMode::Min:
            std::fill_n(to, depth_, INT32_MAX);
            each(window, to, [](int64_t a, int64_t b) { return std::min(a, b); });
            break;
          case PoolingMode::ReduceSum:
            reduce(window, to);
            break;
          case PoolingMode::ArgmaxX:
            first_largest(window, to);
            break;
          default:
            each(window, to, [](int64_t a, int64_t b) { return wrap(a + b, 48); });
            break;
        }
        if (op_.pooling != PoolingMode::Average) continue;
        if (window.elements() == 0) return pool_fault("a window of AVERAGE is all padding");
        for (size_t c = 0; c < depth_; ++c) to[c] = divided(to[c], window.elements());
      }
    return std::nullopt;
  }

 private:
  const int64_t* at(int32_t y, int32_t x) const {
    return ifm_.data() + (static_cast<size_t>(y) * width_ + static_cast<size_t>(x)) * depth_;
  }

  template <typename Join>
  void each(const Window& window, int64_t* to, const Join& join) const {
    for (int32_t y = window.y0; y < window.y1; ++y)
      for (int32_t x = window.x0; x < window.x1; ++x) {
        const int64_t* from = at(y, x);
        for (size_t c = 0; c < depth_; ++c) to[c] = join(to[c], from[c]);
      }
  }

  void reduce(const Window& window, int64_t* to) const {
    for (int32_t y = window.y0; y < window.y1; ++y)
      for (int32_t x = window.x0; x < window.x1; ++x)
        for (size_t c = 0; c < depth_; ++c) *to = wrap(*to + at(y, x)[c], 48);
  }

  // Which element of a row is the largest, the first of equal ones; above the 16 bits of its value.
  void first_largest(const Window& window, int64_t* to) const {
    for (size_t c = 0; c < depth_; ++c) {
      int32_t best = window.x0;
      for (int32_t x = best + 1; x < window.x1; ++x)
        if (at(window.y0, x)[c] > at(window.y0, best)[c]) best = x;
      to[c] = int64_t{best - window.x0} << 16;
    }
  }

  const Operation& op_;
  size_t width_, depth_;
  Results ifm_;
};

std::optional<Fault> check_pool(const Operation& op) {
  const ElementType type = op.ifm.map.type;
  if (op.kernel.dilation_x != 1 || op.kernel.dilation_y != 1)
    return pool_fault("OP_POOL with dilation is not simulated");
  switch (op.pooling) {
    case PoolingMode::Average:
      if (op.kernel.width > 8 || op.kernel.height > 8)
        return pool_fault("AVERAGE has windows of at most 8x8");
      break;
    case PoolingMode::ArgmaxY:
      return pool_fault("ARGMAX_Y is not simulated");
    case PoolingMode::ArgmaxX:
      if (op.kernel.height != 1 || op.padding.any() || element_bytes(type) > 2)
        return pool_fault("ARGMAX_X takes rows of 8 or 16 bits without padding");
      if (op.kernel.width > 32768) return pool_fault("ARGMAX_X takes at most 32768 elements");
      if (!op.global_scale || op.ofm_scale.multiplier != 1 || op.ofm_scale.shift != 16 ||
          op.keeps_accumulators)
        return pool_fault("what ARGMAX_X gives with an OFM_SCALE other than 1 >> 16 is not known");
      break;
    default:
      break;
  }
  if (type == ElementType::S64) return pool_fault("OP_POOL on an IFM of 64 bits is not simulated");
  return std::nullopt;
}

}  // namespace

std::optional<Fault> sum_pool(const Operation& op, const Memory& memory, Results& sums) {
  if (op.pooling == PoolingMode::None) {
    if (op.accumulator_input == AccumulatorInput::Ifm2)
      sums = ethos_u::gather<int64_t>(op.ifm2.map, memory);
    // Values of 64 bits are accumulators of 48.
    for (int64_t& sum : sums) sum = wrap(sum, 48);
    return std::nullopt;
  }
  if (auto fault = check_pool(op)) return fault;
  return Pooling(op, memory).run(sums);
}

void sum_resize(const Operation& op, const Memory& memory, Results& sums) {
  const FeatureMap& map = op.ifm.map;
  const Results ifm = ethos_u::gather<int64_t>(map, memory);
  // Results count in units of 2^-16.
  constexpr int32_t kFraction = 16;
  struct Position {
    int32_t at, next, rest;
  };
  const auto position = [](const Operation::ResizeAxis& axis, int32_t o, int32_t extent) {
    const int32_t along = o * (axis.step_whole * axis.steps + axis.step_rest) + axis.offset;
    const int32_t i = along >= 0 ? along / axis.steps : -((-along + axis.steps - 1) / axis.steps);
    return Position{std::clamp(i, 0, extent - 1), std::clamp(i + 1, 0, extent - 1),
                    along - i * axis.steps};
  };
  const auto at = [&](int32_t y, int32_t x) {
    return ifm.data() +
           (static_cast<size_t>(y) * static_cast<size_t>(map.width) + static_cast<size_t>(x)) *
               static_cast<size_t>(map.depth);
  };
  int64_t* to = sums.data();
  for (int32_t y = 0; y < op.ofm_height; ++y)
    for (int32_t x = 0; x < op.ofm_width; ++x, to += op.ofm_depth) {
      const Position py = position(op.resize_y, y, map.height),
                     px = position(op.resize_x, x, map.width);
      const int64_t ny = op.resize_y.steps, nx = op.resize_x.steps;
      for (int32_t c = 0; c < op.ofm_depth; ++c) {
        if (op.resize == ResizeMode::Nearest) {
          const int32_t near_y = 2 * py.rest >= ny ? py.next : py.at,
                        near_x = 2 * px.rest >= nx ? px.next : px.at;
          to[c] = at(near_y, near_x)[c] * (int64_t{1} << kFraction);
          continue;
        }
        const int64_t above =
                          at(py.at, px.at)[c] * (nx - px.rest) + at(py.at, px.next)[c] * px.rest,
                      below = at(py.next, px.at)[c] * (nx - px.rest) +
                              at(py.next, px.next)[c] * px.rest;
        to[c] = (above * (ny - py.rest) + below * py.rest) * (int64_t{1} << kFraction);
      }
    }
}

}  // namespace intarsia::simulators::ethos_u85
