// (x - mean) / sqrt(variance + epsilon) * factor + offset, where x are integers of 8 bits and so is the result.
//
// A row, which is what one mean is taken of, may have any spread: where it is small, squares on a fixed scale would be zero. So the
// row is first divided by what lies between its least and its largest element, a whole number of 255 that a table knows the
// reciprocal of. How exact that is does not matter, since the result is the same whatever a row is multiplied by. Behind it
// squares are at most 1 and their mean at least 1 / 2N, which 16 bits hold.
//
//   x' = (x - mean) * g        g = 1 / max(range, least range): a table over the range
//   v  = mean of x'^2 + epsilon * g^2
//   y  = x' * (1 / sqrt(v)) * factor + offset
//
// Without a mean x' is half of x over its largest magnitude.
//
// 1 / sqrt(v) bends too much for straight lines over all of v. It is a product: below a sixteenth of the largest v
// of 1 / sqrt(v), above it of what is left, each of which is constant where the other one is not.
#include "import/onnx/normalize_integers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/onnx/window.h"

namespace intarsia::onnx {
namespace {

using graph::BinaryAttrs;
using graph::NoAttrs;
using graph::OpKind;
using graph::Quantization;
using graph::TensorId;

constexpr int64_t kWord = 32767;
constexpr float kUnit = 1.0f / kWord;
constexpr float kPerStep = 128;        // what is less than a step of x, and of the result
constexpr float kMostVariance = 0.5f;  // of x', which is at most 1/4, with epsilon at most as much
constexpr float kFine = 16;            // parts of it, of which the least has lines of its own
constexpr int64_t kMostElements = 1 << 16;  // of a row, whose sum has 32 bits

class IntegerNormalizer {
 public:
  IntegerNormalizer(Reader& in, const Normalization& what, const Tail& tail)
      : in_(in),
        what_(what),
        as_(*tail.as),
        shape_(in.shape(what.x)),
        x_(what.rows.empty() ? what.x : in.reshape(what.x, what.rows)),
        along_{what.axes, true} {
    for (const int64_t axis : what.axes) count_ *= in.shape(x_)[static_cast<size_t>(axis)];
    step_ = in.tensor(x_).quantization.scale[0];
    least_range_ = std::max(1.0f, std::sqrt(what.epsilon / (kMostVariance / 2)) / step_);
    factors_ = values(what.factor, 1);
    offsets_ = values(what.offset, 0);
    for (float& factor : factors_) factor *= what.times;
    for (const float factor : factors_) largest_ = std::max(largest_, std::abs(factor));
  }

  bool is_possible() const {
    const bool finite = std::ranges::all_of(factors_, [](float f) { return std::isfinite(f); }) &&
                        std::ranges::all_of(offsets_, [](float f) { return std::isfinite(f); });
    return count_ >= 2 && count_ <= kMostElements && largest_ > 0 && finite &&
           std::isfinite(least_range_) &&
           largest_deviation() * kUnit * largest_ <= result_step() / 2;
  }

  TensorId run() {
    const TensorId spread = scaled_row();
    const TensorId square = mul(spread, spread, kUnit, "square");
    const TensorId mean = mean_of(square, variance_step(), "variance");
    return scaled(spread, inverse_deviation(mean));
  }

 private:
  static Quantization words(float scale) { return {{scale}, {0}, 0}; }
  float result_step() const { return as_.quantization.scale[0]; }
  static float variance_step() { return kMostVariance * kUnit; }
  // 1 / sqrt(v) at most: two elements at the ends, all others between them; without a mean one element of a half, all others 0. Of few
  // elements what is cut off at the border is more.
  float largest_deviation() const {
    const float squares = (what_.is_centred ? 2 : 4) * static_cast<float>(count_);
    return std::sqrt(std::max(squares, kFine / kMostVariance));
  }
  bool is_one_factor() const {
    return factors_.front() > 0 &&
           std::ranges::all_of(factors_, [&](float f) { return f == factors_.front(); }) &&
           std::ranges::all_of(offsets_, [](float f) { return f == 0; });
  }

  std::vector<float> values(TensorId id, float absent) const {
    return id.valid() ? as_reals(in_.values_of(id)) : std::vector<float>{absent};
  }

  TensorId emit(OpKind kind, graph::Attributes attributes, std::vector<TensorId> operands,
                const Quantization& q, std::string_view suffix) {
    return in_.emit(kind, std::move(attributes), std::move(operands), DataType::Int16, q, suffix);
  }
  TensorId mul(TensorId a, TensorId b, float scale, std::string_view suffix) {
    return emit(OpKind::Mul, BinaryAttrs{}, {a, b}, words(scale), suffix);
  }

  TensorId mean_of(TensorId id, float scale, std::string_view suffix) {
    const std::optional<size_t> channel = what_.rows.empty() ? only_axis() : std::nullopt;
    if (channel && *channel + 1 == shape_.size())
      return mean_of_words(in_, id, along_, scale, suffix);
    return emit(OpKind::Mean, along_, {id}, words(scale), suffix);
  }

  // x' on 1 / 32767, and the range of each row.
  TensorId scaled_row() {
    const TensorId wide = widened(in_, x_, {});
    TensorId centred = wide;
    if (what_.is_centred) {
      const float part = step_ / kPerStep;
      const TensorId mean = mean_of(wide, part, "mean");
      centred = emit(OpKind::Sub, BinaryAttrs{}, {wide, mean}, words(part), "centre");
      const TensorId most = in_.emit_alike(OpKind::ReduceMax, along_, {x_}, "most"),
                     least = in_.emit_alike(OpKind::ReduceMin, along_, {x_}, "least");
      range_ = in_.emit(OpKind::Sub, BinaryAttrs{}, {most, least}, DataType::Int8,
                        {{step_}, {-128}, 0}, "range");
    } else {
      range_ = in_.emit_alike(OpKind::ReduceMax, along_, {magnitudes()}, "range");
    }
    return mul(centred,
               of_range([&](float steps) { return reciprocal(steps); }, reciprocal_step(), "scale"),
               kUnit, "scaled");
  }

  // Of the elements, in steps: a whole number of 255.
  TensorId magnitudes() {
    graph::LookupAttrs table;
    const int64_t zero = in_.tensor(x_).quantization.zero_point[0];
    for (int64_t value = -128; value < 128; ++value)
      table.results.push_back(std::abs(value - zero) - 128);
    return in_.emit(OpKind::Lookup, std::move(table), {x_}, DataType::Int8, {{step_}, {-128}, 0},
                    "magnitude");
  }

  // In steps of its tensor, as the table has it.
  float reciprocal_step() const { return kUnit / (least_range_ * step_); }
  int64_t reciprocal(float range) const {
    return std::lround(static_cast<float>(kWord) * least_range_ / std::max(range, least_range_));
  }

  // A table over the range in steps of x: without a mean, from the largest magnitude to its opposite.
  template <typename F>
  TensorId of_range(const F& f, float scale, std::string_view suffix) {
    graph::LookupAttrs table;
    for (int range = 0; range < 256; ++range)
      table.results.push_back(f(static_cast<float>(what_.is_centred ? range : 2 * range)));
    return emit(OpKind::Lookup, std::move(table), {range_}, words(scale), suffix);
  }

  // Straight lines through what is f of a variance, whose steps are given.
  template <typename F>
  TensorId of_variance(TensorId id, float step, const F& f, float scale, std::string_view suffix) {
    graph::LookupAttrs lines;
    for (int64_t point = -32768; point <= 32768; point += 128) {
      const float variance = static_cast<float>(std::max<int64_t>(point, 0)) * step;
      const float steps = std::round(f(variance) / scale);
      lines.results.push_back(static_cast<int64_t>(std::clamp(steps, 0.0f, float{kWord})));
    }
    return emit(OpKind::Lookup, std::move(lines), {id}, words(scale), suffix);
  }

  // What the result's factor is where it is one is a part of it.
  TensorId inverse_deviation(TensorId mean) {
    const float unit = result_unit(), steps = variance_step();
    const auto added = [&](float scale, std::string_view suffix) {
      return emit(OpKind::Add, BinaryAttrs{}, {mean, epsilon_}, words(scale), suffix);
    };
    epsilon_ = of_range(
        [&](float range) {
          const float g = static_cast<float>(reciprocal(range)) * reciprocal_step();
          return std::lround(what_.epsilon * g * g / steps);
        },
        steps, "epsilon");
    const float fine = steps / kFine, border = fine * (kWord + 1);
    const TensorId coarse = of_variance(
        added(steps, "sum"), steps,
        [&](float v) { return v > border ? std::sqrt(border / v) : 1.0f; }, kUnit, "coarse");
    // Beyond what `fine` holds the sum is cut off, at the border.
    const TensorId rest = of_variance(
        added(fine, "low"), fine,
        [&](float v) { return v > 0 ? unit / std::sqrt(v) : unit * largest_deviation(); },
        unit * largest_deviation() * kUnit, "fine");
    return mul(rest, coarse, unit * largest_deviation() * kUnit, "rsqrt");
  }

  float result_unit() const { return is_one_factor() ? factors_.front() : 1.0f; }

  TensorId scaled(TensorId spread, TensorId inverse) {
    const float part = result_step() / kPerStep;
    const auto multiplied = [&](float scale) {
      const TensorId normal = mul(spread, inverse, scale, "normal");
      return what_.rows.empty() ? normal : in_.reshape(normal, shape_);
    };
    if (is_one_factor()) return in_.requantize(multiplied(part), as_);
    const float step = normal_limit() * kUnit;
    const TensorId normal = multiplied(step);
    if (!in_.ok() || in_.shape(normal) != shape_) return {};
    const std::optional<size_t> axis = only_axis();
    const TensorId y = axis ? by_convolution(normal, step, *axis, part) : by_elements(normal);
    return in_.requantize(y, as_);
  }

  // The largest magnitude that the result can show.
  float most() const {
    const auto zero = static_cast<float>(as_.quantization.zero_point[0]);
    return std::max(127 - zero, zero + 128) * result_step();
  }

  // What a normalised element can be, or more than all of a result can show.
  float normal_limit() const {
    const float natural = std::sqrt(static_cast<float>(count_));
    if (factors_.size() != offsets_.size() && factors_.size() > 1 && offsets_.size() > 1)
      return natural;
    float limit = 0;
    for (size_t i = 0; i < std::max(factors_.size(), offsets_.size()); ++i) {
      const float factor = std::abs(factors_[i % factors_.size()]);
      const float needed = (most() + std::abs(offsets_[i % offsets_.size()])) / factor;
      limit = std::max(limit, std::isfinite(needed) ? needed : natural);
    }
    return std::min(limit, natural);
  }

  // Of factors and offsets, where they have one.
  std::optional<size_t> only_axis() const {
    const size_t rank = shape_.size();
    std::optional<size_t> found;
    for (const TensorId id : {what_.factor, what_.offset}) {
      if (!id.valid()) continue;
      const Shape& shape = in_.shape(id);
      for (size_t i = 0; i < shape.size(); ++i) {
        const size_t axis = rank - shape.size() + i;
        if (shape[i] == 1) continue;
        if (found && *found != axis) return std::nullopt;
        found = axis;
      }
    }
    const bool at_end = found && *found + 1 == rank;
    const bool first = found && *found == 1 && (rank == 3 || rank == 4);
    return at_end || first ? found : std::nullopt;
  }

  // A convolution by one weight of each channel, on its own scale.
  TensorId by_convolution(TensorId normal, float step, size_t axis, float part) {
    constexpr float kWeight = 127, kMostBias = 1 << 30;
    const Shape shape = in_.shape(normal);
    const int64_t channels = shape[axis];
    Quantization q;
    q.axis = 3;
    std::vector<int64_t> weights, biases;
    for (size_t i = 0; i < static_cast<size_t>(channels); ++i) {
      const float factor = factors_[i % factors_.size()], offset = offsets_[i % offsets_.size()];
      float scale = std::max(std::abs(factor) / kWeight, std::abs(offset) / (step * kMostBias));
      if (!std::isnormal(scale * step)) scale = 1 / kWeight;
      q.scale.push_back(scale);
      q.zero_point.push_back(0);
      weights.push_back(std::lround(factor / scale));
      biases.push_back(std::lround(offset / (step * scale)));
    }
    const bool at_end = axis + 1 == shape.size(), is_line = !at_end && shape.size() == 3;
    TensorId image = normal;
    if (!at_end)
      image = in_.to_channels_last(as_image(in_, normal));
    else if (shape.size() != 4)
      image = in_.reshape(normal, {1, element_count(shape) / channels, 1, channels});
    const TensorId by =
        in_.make_constant(integer_values(DataType::Int8, {1, 1, 1, channels}, weights), q);
    const TensorId bias = in_.make_constant(integer_values(DataType::Int64, {channels}, biases));
    const TensorId y = emit(OpKind::DepthwiseConv2d, graph::DepthwiseConv2dAttrs{},
                            {image, by, bias}, words(part), "scaled");
    if (!y.valid()) return y;
    return at_end ? in_.reshape(y, shape) : from_image(in_, y, is_line);
  }

  TensorId by_elements(TensorId normal) {
    const auto constant = [&](TensorId id, const std::vector<float>& reals, float scale) {
      std::vector<int64_t> steps;
      for (const float real : reals) steps.push_back(std::lround(real / scale));
      const Shape shape = id.valid() ? in_.shape(id) : Shape{1};
      return in_.make_constant(integer_values(DataType::Int16, shape, steps), words(scale));
    };
    float shift = 0;
    for (const float offset : offsets_) shift = std::max(shift, std::abs(offset));
    const TensorId by = constant(what_.factor, factors_, largest_ * kUnit);
    const float part = (most() + shift) * kUnit;  // of all that an offset leaves in range
    if (part > result_step() / (kPerStep / 2)) return {};
    const TensorId y = mul(normal, by, part, "factor");
    if (shift == 0) return y;
    return emit(OpKind::Add, BinaryAttrs{}, {y, constant(what_.offset, offsets_, part)},
                words(part), "offset");
  }

  Reader& in_;
  const Normalization& what_;
  const QuantizedAs as_;
  const Shape shape_;
  const TensorId x_;  // in rows
  const graph::ReduceAttrs along_;
  int64_t count_ = 1;
  float step_ = 1, least_range_ = 1, largest_ = 0;
  std::vector<float> factors_, offsets_;
  TensorId range_, epsilon_;
};

bool is_known(Reader& in, TensorId id) {
  return !id.valid() || in.is_constant(id);
}

// Whether it is none, or is repeated against tensors of this shape without making them larger.
bool fits(Reader& in, TensorId id, const Shape& shape) {
  if (!id.valid()) return true;
  const Shape& own = in.shape(id);
  return own.size() <= shape.size() &&
         std::equal(own.rbegin(), own.rend(), shape.rbegin(),
                    [](int64_t a, int64_t b) { return a == 1 || a == b; });
}

}  // namespace

TensorId integers(Reader& in) {
  return in.is_real(0) ? in.value(0).tensor : TensorId{};
}

// Of elements beside each other it is a product with ones, which kernels and arrays of multipliers are made for.
TensorId mean_of_words(Reader& in, TensorId id, const graph::ReduceAttrs& along, float scale,
                       std::string_view suffix) {
  constexpr int64_t kMostOnes = 4096;
  if (!id.valid()) return id;
  const Quantization as{{scale}, {0}, 0};
  const int64_t last = std::ssize(in.shape(id)) - 1, count = in.shape(id).back();
  if (along.axes != std::vector{last} || count > kMostOnes)
    return in.emit(OpKind::Mean, along, {id}, DataType::Int16, as, suffix);
  const std::vector<int64_t> ones(static_cast<size_t>(count), 1);
  const TensorId by = in.make_constant(integer_values(DataType::Int8, {1, count}, ones),
                                       {{1.0f / static_cast<float>(count)}, {0}, 0});
  return in.emit(OpKind::FullyConnected, graph::FullyConnectedAttrs{last > 1}, {id, by, TensorId{}},
                 DataType::Int16, as, suffix);
}

TensorId widened(Reader& in, TensorId x, const std::vector<int64_t>& axes) {
  if (const TensorId made = in.made_along(x, axes); made.valid()) return made;
  const Quantization part{{in.tensor(x).quantization.scale[0] / kPerStep}, {0}, 0};
  TensorId id;
  if (axes.empty()) {
    id = in.emit(OpKind::Quantize, NoAttrs{}, {x}, DataType::Int16, part, "wide");
  } else {
    const TensorId wide = widened(in, x, {});
    const TensorId mean = mean_of_words(in, wide, {axes, true}, part.scale[0], "mean");
    id = in.emit(OpKind::Sub, BinaryAttrs{}, {wide, mean}, DataType::Int16, part, "centre");
  }
  return in.made_along(x, axes) = id;
}

TensorId normalized_integers(Reader& in, const Normalization& what, const Tail& tail) {
  if (!what.x.valid() || !tail.as || tail.as->type != DataType::Int8) return {};
  const graph::Tensor& x = in.tensor(what.x);
  if (x.type != DataType::Int8 || x.constant.valid() || x.quantization.per_channel() ||
      !is_known(in, what.factor) || !is_known(in, what.offset))
    return {};
  const Shape shape = x.shape;
  if (!fits(in, what.factor, shape) || !fits(in, what.offset, shape)) return {};
  return in.attempt([&]() -> TensorId {
    IntegerNormalizer normalizer(in, what, tail);
    const TensorId y = normalizer.is_possible() ? normalizer.run() : TensorId{};
    return y.valid() && in.shape(y) == shape ? y : TensorId{};
  });
}

}  // namespace intarsia::onnx
