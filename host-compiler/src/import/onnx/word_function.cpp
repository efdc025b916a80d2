#include "import/onnx/word_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "import/onnx/element_chain.h"
#include "import/onnx/elements.h"

namespace intarsia::onnx {

using graph::NoAttrs;
using graph::OpKind;
using graph::TensorId;

namespace {

constexpr float kLeastWord = INT16_MIN, kMostWord = INT16_MAX;
constexpr size_t kWords = 65536, kLines = 512, kLength = 128;  // steps of a line

bool is_around_zero(DataType type, const graph::Quantization& q) {
  return type == DataType::Int16 && q.scale.size() == 1 && q.zero_point[0] == 0;
}

bool bends(const Reader& in, const graph::Node& node) {
  if (is_curve(node.kind)) return true;
  switch (node.kind) {
    case OpKind::Mul:
      return !in.is_constant(node.inputs[0]) && !in.is_constant(node.inputs[1]);
    case OpKind::Div:
      return !in.is_constant(node.inputs[1]);
    default:
      return false;
  }
}

// What is drawn, and what it stands for.
struct Curve {
  std::vector<float> reals;  // by word, from the least on
  float scale = 1;           // of the points
  QuantizedAs as;

  float in_steps(size_t word) const { return reals[word] / scale; }
};

// What the line from each point misses in its middle is taken off both of its ends, by half.
std::vector<int64_t> fitted_points(const Curve& curve) {
  std::array<float, kLines + 1> exact{};
  for (size_t i = 0; i < kLines; ++i) exact[i] = curve.in_steps(i * kLength);
  exact[kLines] = 2 * curve.in_steps(kWords - 1) - curve.in_steps(kWords - 2);
  const auto missed = [&](size_t line) {
    return (exact[line] + exact[line + 1]) / 2 - curve.in_steps(line * kLength + kLength / 2);
  };
  std::vector<int64_t> points;
  for (size_t i = 0; i <= kLines; ++i) {
    const float before = missed(i == 0 ? 0 : i - 1), behind = missed(std::min(i, kLines - 1));
    points.push_back(
        std::lround(std::clamp(exact[i] - (before + behind) / 4, kLeastWord, kMostWord)));
  }
  return points;
}

// Drawn as the evaluator does it, brought to the result's scale, and held against the function in the result's range.
bool are_near(const std::vector<int64_t>& points, const Curve& curve) {
  const float scale = curve.as.quantization.scale[0], ratio = curve.scale / scale;
  constexpr float kMostMissed = 2;
  const auto least = static_cast<float>(curve.as.least.value_or(INT16_MIN)),
             most = static_cast<float>(curve.as.most.value_or(INT16_MAX));
  for (size_t word = 0; word < kWords; ++word) {
    const size_t line = word / kLength;
    const int64_t slope = points[line + 1] - points[line];
    const int64_t drawn = points[line] + ((slope * static_cast<int64_t>(word % kLength) + 64) >> 7);
    const float kept = std::clamp(std::round(static_cast<float>(drawn) * ratio), least, most);
    const float wanted = std::clamp(curve.reals[word] / scale, least, most);
    if (!(std::abs(kept - wanted) <= kMostMissed)) return false;
  }
  return true;
}

// Of words that the source never is, behind a Relu, what the least one has that it is.
std::optional<Curve> curve_of(Reader& in, const ElementChain& chain, const QuantizedAs& as) {
  Curve curve{{}, as.quantization.scale[0], as};
  // Nothing is left of computing it.
  in.attempt([&]() -> TensorId {
    curve.reals = results_of(in, chain);
    return {};
  });
  if (curve.reals.size() != kWords) return std::nullopt;
  const graph::Node* maker = in.maker_of(chain.source);
  const auto zero = curve.reals.begin() + kWords / 2;
  if (maker != nullptr && maker->kind == OpKind::Relu) std::fill(curve.reals.begin(), zero, *zero);
  float largest = 0;
  for (const float real : curve.reals) {
    if (!std::isfinite(real)) return std::nullopt;
    largest = std::max(largest, std::abs(real));
  }
  // The calibration may not have seen all of the function: lines end where 16 bits do, which only points on a wider scale show.
  curve.scale = std::max(curve.scale, largest / kMostWord);
  return curve;
}

}  // namespace

bool is_curve(OpKind kind) {
  switch (kind) {
    case OpKind::Logistic:
    case OpKind::Tanh:
    case OpKind::Elu:
    case OpKind::Gelu:
    case OpKind::Erf:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Sin:
    case OpKind::Cos:
    case OpKind::Pow:
    case OpKind::Square:
    case OpKind::Sqrt:
    case OpKind::Rsqrt:
      return true;
    default:
      return false;
  }
}

TensorId straight_lines(Reader& in, TensorId reals, const QuantizedAs& as) {
  if (!is_around_zero(as.type, as.quantization) || in.tensor(reals).type != kFloat ||
      in.is_constant(reals))
    return {};
  const std::optional<ElementChain> chain = element_chain(in, reals, DataType::Int16);
  if (!chain || !is_around_zero(DataType::Int16, in.tensor(chain->source).quantization) ||
      !std::ranges::any_of(chain->nodes, [&](const graph::Node& node) { return bends(in, node); }))
    return {};
  const std::optional<Curve> curve = curve_of(in, *chain, as);
  if (!curve) return {};
  std::vector<int64_t> points = fitted_points(*curve);
  if (!are_near(points, *curve)) return {};
  return in.attempt([&] {
    const TensorId lines =
        in.emit(OpKind::Lookup, graph::LookupAttrs{std::move(points)}, {chain->source},
                DataType::Int16, {{curve->scale}, {0}, 0}, "lines");
    return in.requantize(lines, as);
  });
}

TensorId hard_sigmoid_of_words(Reader& in, float alpha, float beta, const Tail& tail) {
  if (!in.is_real(0) || !tail.as || !(alpha > 0 && beta > 0 && beta < 1)) return {};
  const TensorId x = in.value(0).tensor;
  const graph::Tensor& words = in.tensor(x);
  if (!is_around_zero(words.type, words.quantization) ||
      !is_around_zero(tail.as->type, tail.as->quantization))
    return {};
  return in.attempt([&]() -> TensorId {
    // A number as the largest word.
    const auto number = [&](float real) {
      return in.make_constant(integer_values(DataType::Int16, {}, {INT16_MAX}),
                              {{real / kMostWord}, {0}, 0});
    };
    // What is beyond the wider side of 0 .. 1 is its end.
    const float reach = std::max(beta, 1 - beta), scale = tail.as->quantization.scale[0];
    if (reach / kMostWord > scale) return {};
    const TensorId line = in.emit(OpKind::Mul, graph::BinaryAttrs{}, {x, number(alpha)},
                                  DataType::Int16, {{reach / kMostWord}, {0}, 0}, "line");
    if (!line.valid()) return {};
    TensorId y = in.emit(OpKind::Add, graph::BinaryAttrs{}, {line, number(beta)}, DataType::Int16,
                         tail.as->quantization);
    if (y.valid() && tail.as->least != 0) y = limited_to(in, OpKind::Maximum, y, 0, "least");
    const float most = std::round(1 / scale);
    if (y.valid() && beta + reach > 1 && most < kMostWord)
      y = limited_to(in, OpKind::Minimum, y, static_cast<int64_t>(most), "most");
    return y;
  });
}

}  // namespace intarsia::onnx
