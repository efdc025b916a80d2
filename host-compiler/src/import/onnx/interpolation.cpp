#include "import/onnx/interpolation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "import/onnx/moving.h"
#include "import/onnx/weighted.h"

namespace intarsia::onnx {

using graph::OpKind;
using graph::TensorId;

std::optional<float> position(const Modes& modes, int64_t at, int64_t from, int64_t to,
                              float scale) {
  const auto index = static_cast<float>(at);
  const float half = (index + 0.5f) / scale - 0.5f;
  if (modes.place == "asymmetric") return index / scale;
  if (modes.place == "half_pixel") return half;
  if (modes.place == "tf_half_pixel_for_nn") return (index + 0.5f) / scale;
  if (modes.place == "pytorch_half_pixel") return to > 1 ? half : 0.0f;
  // The first and the last element stay where they are, whatever the scale says of an extent that is no whole number: as onnxruntime
  // and PyTorch, whose exporter writes such scales, compute it. The standard's tests take the fraction too, and miss the last element.
  if (modes.place == "align_corners")
    return to > 1 ? index * static_cast<float>(from - 1) / static_cast<float>(to - 1) : 0.0f;
  if (modes.place == "half_pixel_symmetric") {
    const float centre = static_cast<float>(from) / 2,
                adjustment = static_cast<float>(to) / (scale * static_cast<float>(from));
    return centre * (1 - adjustment) + half;
  }
  return std::nullopt;
}

namespace {

// What an element at the distance counts.
float linear_weight(float distance) {
  return std::max(0.0f, 1 - std::abs(distance));
}
float cubic_weight(float distance, float a) {
  const float d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0.0f;
}

class Interpolation {
 public:
  Interpolation(Reader& in, const Target& target, const Modes& modes)
      : in_(in), target_(target), modes_(modes), shape_(in.shape_of(0)) {}

  void run() {
    if (!find_ends()) return;
    TensorId id = in_.operand(0);
    for (size_t axis = shape_.size(); axis-- > 0 && in_.ok();)
      if (target_.size[axis] != shape_[axis] || target_.scale[axis] != 1 || ends_)
        id = along(axis, id);
    if (!in_.ok()) return;
    in_.result(ends_ ? outside_replaced(id) : id);
  }

 private:
  // Of tf_crop_and_resize: per axis, where the part of the operand begins and ends, as fractions.
  bool find_ends() {
    if (modes_.place != "tf_crop_and_resize")
      return in_.require(position(modes_, 0, 1, 1, 1).has_value(),
                         fmt::format("has the mode '{}' with '{}'", tflite::printable(modes_.mode),
                                     tflite::printable(modes_.place)));
    if (!in_.require(in_.has(1) && in_.is_constant(in_.operand(1)),
                     "takes a part of its operand that only the running model knows"))
      return false;
    const std::vector<float> given = as_reals(in_.values_of(in_.operand(1)));
    const auto named = in_.integers("axes");
    const size_t count = named && !named->empty() ? named->size() : shape_.size();
    if (!in_.require(given.size() == 2 * count, "has no beginning and end for each axis"))
      return false;
    ends_.emplace(shape_.size(), std::pair(0.0f, 1.0f));
    for (size_t i = 0; i < count; ++i) {
      const auto axis = static_cast<size_t>(count == shape_.size() && !named
                                                ? static_cast<int64_t>(i)
                                                : in_.axis((*named)[i], shape_.size()));
      if (!in_.ok()) return false;
      (*ends_)[axis] = {given[i], given[count + i]};
    }
    return true;
  }

  float place(size_t axis, int64_t at) const {
    const int64_t from = shape_[axis], to = target_.size[axis];
    if (!ends_) return *position(modes_, at, from, to, target_.scale[axis]);
    const auto [begin, end] = (*ends_)[axis];
    const auto last = static_cast<float>(from - 1);
    if (to == 1) return 0.5f * (begin + end) * last;
    return begin * last +
           static_cast<float>(at) * (end - begin) * last / static_cast<float>(to - 1);
  }
  bool is_outside(size_t axis, int64_t at) const {
    const float x = place(axis, at);
    return ends_ && (x < 0 || x > static_cast<float>(shape_[axis] - 1));
  }

  // [to, from]
  std::vector<float> matrix(size_t axis) const {
    const int64_t from = shape_[axis], to = target_.size[axis];
    const bool is_cubic = modes_.mode == "cubic", without = in_.integer("exclude_outside", 0) != 0;
    const bool wide = in_.integer("antialias", 0) != 0 && target_.scale[axis] < 1;
    const float spread = wide ? target_.scale[axis] : 1.0f, a = in_.real("cubic_coeff_a", -0.75f);
    const float reach = (is_cubic ? 2.0f : 1.0f) / spread;
    std::vector<float> weights(static_cast<size_t>(to * from), 0.0f);
    for (int64_t at = 0; at < to; ++at) {
      float* row = weights.data() + at * from;
      const float x = place(axis, at);
      float sum = 0;
      for (auto p = static_cast<int64_t>(std::floor(x - reach));
           p <= static_cast<int64_t>(std::ceil(x + reach)); ++p) {
        const float distance = (static_cast<float>(p) - x) * spread;
        const float weight = is_cubic ? cubic_weight(distance, a) : linear_weight(distance);
        if (without && (p < 0 || p >= from)) continue;
        row[std::clamp<int64_t>(p, 0, from - 1)] += weight;
        sum += weight;
      }
      if (sum != 0)
        for (int64_t p = 0; p < from; ++p) row[p] /= sum;
    }
    return weights;
  }

  TensorId along(size_t axis, TensorId id) {
    const int64_t from = shape_[axis], to = target_.size[axis];
    constexpr float kFar = 1e6f;
    for (const int64_t at : {int64_t{0}, to - 1})
      if (!in_.require(std::abs(place(axis, at)) <= kFar, "reads far outside of its operand"))
        return id;
    if (!table_fits(in_, to * from)) return id;
    const TensorId weights = in_.make_constant(real_values({to, from}, matrix(axis)));
    const size_t last = shape_.size() - 1;
    if (axis + 1 == last) {
      Shape matrices = in_.shape(id);  // rows of columns: the weights come first
      const int64_t columns = matrices.back();
      matrices.pop_back(), matrices.pop_back();
      const TensorId product = in_.emit(OpKind::BatchMatmul, graph::BatchMatmulAttrs{},
                                        {in_.reshape(weights, {1, to, from}),
                                         in_.reshape(id, {element_count(matrices), from, columns})},
                                        kFloat, {}, "rows");
      matrices.push_back(to), matrices.push_back(columns);
      return in_.ok() ? in_.reshape(product, matrices) : product;
    }
    std::vector<int64_t> order(shape_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::swap(order[axis], order[last]);
    const TensorId turned = in_.transpose(weights, {1, 0});
    return in_.transpose(matrix_product(in_, in_.transpose(id, order), turned, kFloat, {}), order);
  }

  // Elements that lie outside of the operand along any axis.
  TensorId outside_replaced(TensorId id) {
    TensorId inside;
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      Shape row(shape_.size(), 1);
      row[axis] = target_.size[axis];
      std::vector<int64_t> flags;
      for (int64_t at = 0; at < row[axis]; ++at) flags.push_back(is_outside(axis, at) ? 0 : 1);
      if (std::ranges::find(flags, 0) == flags.end()) continue;
      const TensorId mask = in_.make_constant(integer_values(DataType::Bool, row, flags));
      inside = inside.valid() ? in_.emit(OpKind::LogicalAnd, graph::NoAttrs{}, {inside, mask},
                                         DataType::Bool, {}, "inside")
                              : mask;
    }
    if (!inside.valid()) return id;
    return in_.emit(OpKind::Select, graph::NoAttrs{},
                    {inside, id, in_.number(in_.real("extrapolation_value", 0))}, kFloat, {},
                    "outside");
  }

  Reader& in_;
  const Target& target_;
  const Modes& modes_;
  const Shape shape_;
  std::optional<std::vector<std::pair<float, float>>> ends_;
};

}  // namespace

void interpolate(Reader& in, const Target& target, const Modes& modes) {
  Interpolation(in, target, modes).run();
}

}  // namespace intarsia::onnx
