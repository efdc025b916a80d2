// Functions over int16 as TFLite has them: 513 points, and straight lines between them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "operators/evaluation/invocation.h"

namespace intarsia::operators {

class StraightLines {
 public:
  static constexpr int kLines = 512, kLength = 128;  // steps of a line

  explicit StraightLines(const std::array<int16_t, kLines + 1>& points) : points_(points) {}

  // f of scale * (value - zero), in steps of `result_scale`. All of it is computed in single precision.
  template <typename F>
  StraightLines(float scale, int32_t zero, float result_scale, F&& f) {
    constexpr int32_t kLeast = -32768, kMost = 32767;
    // Far beyond what an int16 holds; where a function has no limit, differences of its results are numbers nevertheless.
    constexpr float kLimit = 1e9f;
    const float first = scale * static_cast<float>(kLeast - zero);
    const float last = scale * static_cast<float>(kMost - zero);
    const float per_unit = 65536.0f / (result_scale * static_cast<float>(kMost) -
                                       result_scale * static_cast<float>(kLeast));
    const float step = (last - first) / kLines, half = step / 2;
    const auto steps = [&](float x) { return std::clamp(f(x) * per_unit, -kLimit, kLimit); };
    const auto element = [](float value) {
      return static_cast<int16_t>(std::clamp(value, float{kLeast}, float{kMost}));
    };
    for (int i = 0; i < kLines; ++i) {
      const float at = first + static_cast<float>(i) * step;
      const float here = std::round(steps(at));
      const float next = steps(first + static_cast<float>(i + 1) * step);
      const float middle = std::round(steps(at + half));
      // Half of what the straight line misses in the middle is taken off.
      const float error = std::round((next + here) / 2) - middle;
      points_[static_cast<size_t>(i)] = element(here - std::round(error / 2));
    }
    points_[kLines] = element(std::round(steps(last)));
  }

  // Of an operator's operand and result.
  template <typename F>
  StraightLines(const graph::Tensor& in, const graph::Tensor& out, F&& f)
      : StraightLines(in.quantization.scale[0], static_cast<int32_t>(in.quantization.zero_point[0]),
                      out.quantization.scale[0], std::forward<F>(f)) {}

  const std::array<int16_t, kLines + 1>& points() const { return points_; }

  int16_t operator()(int32_t value) const {
    const auto index = static_cast<size_t>(kLines / 2 + (value >> 7));
    const int32_t slope = points_[index + 1] - points_[index];
    return static_cast<int16_t>(points_[index] + ((slope * (value & 127) + 64) >> 7));
  }

 private:
  std::array<int16_t, kLines + 1> points_{};
};

}  // namespace intarsia::operators
