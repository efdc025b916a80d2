#include "import/onnx/written_norms.h"

#include <algorithm>
#include <cmath>

#include "import/onnx/normalize_integers.h"

namespace intarsia::onnx {
namespace {

using graph::BinaryAttrs;
using graph::OpKind;
using graph::Quantization;
using graph::TensorId;

constexpr float kLargestWord = 32767;
constexpr float kParts = 128;  // of a step of the result

// What is squared and divided: x, or x less its mean.
struct Row {
  TensorId x;
  std::vector<int64_t> axes;  // of the mean; none: x itself
};

// Bytes, or their mean along axes, which no quantiser has rounded.
struct Side {
  TensorId x;
  std::vector<int64_t> axes;
};

class Writing {
 public:
  explicit Writing(Reader& in) : in_(in) {}

  const Node* made_by(const std::string& value, std::string_view type) const {
    const Node* node = in_.operator_of(value);
    return node != nullptr && node->domain.empty() && node->type == type ? node : nullptr;
  }

  std::optional<float> number(const std::string& value) const {
    const std::optional<Values> known = in_.known(value);
    if (!known || element_count(known->shape) != 1) return std::nullopt;
    return as_reals(*known).front();
  }

  // x of int8 on one scale.
  TensorId bytes(const std::string& value) const {
    const TensorId id = in_.integers_of(value);
    const bool fits = id.valid() && in_.tensor(id).type == DataType::Int8 &&
                      !in_.tensor(id).quantization.per_channel();
    return fits ? id : TensorId{};
  }

  // Axes that stay, with one element; none: not known.
  std::vector<int64_t> axes_of(const Node& mean, size_t rank) const {
    const auto keeps = mean.attributes.find("keepdims");
    if (keeps != mean.attributes.end() && keeps->second.integer() == 0) return {};
    std::vector<int64_t> axes;
    if (mean.inputs.size() > 1 && !mean.inputs[1].empty()) {
      const std::optional<Values> known = in_.known(mean.inputs[1]);
      if (known) axes = as_integers(*known);
    } else if (const auto given = mean.attributes.find("axes"); given != mean.attributes.end()) {
      axes.assign(given->second.integers().begin(), given->second.integers().end());
    }
    for (int64_t& axis : axes) {
      if (axis < 0) axis += static_cast<int64_t>(rank);
      if (axis < 0 || axis >= static_cast<int64_t>(rank)) return {};
    }
    std::ranges::sort(axes);
    return axes;
  }

  std::optional<Row> row(const std::string& value) const {
    if (const TensorId x = bytes(value); x.valid()) return Row{x, {}};
    const Node* less = made_by(value, "Sub");
    return less == nullptr ? std::nullopt : centred(*less);
  }

  std::optional<Row> centred(const Node& less) const {
    const TensorId x = bytes(less.inputs[0]);
    const Node* mean = made_by(less.inputs[1], "ReduceMean");
    if (!x.valid() || mean == nullptr || in_.integers_of(mean->inputs[0]) != x) return std::nullopt;
    Row row{x, axes_of(*mean, in_.shape(x).size())};
    if (row.axes.empty()) return std::nullopt;
    return row;
  }

  std::optional<Side> side(const std::string& value) const {
    if (const TensorId x = bytes(value); x.valid()) return Side{x, {}};
    const Node* mean = made_by(value, "ReduceMean");
    const TensorId x = mean == nullptr ? TensorId{} : bytes(mean->inputs[0]);
    if (!x.valid()) return std::nullopt;
    Side side{x, axes_of(*mean, in_.shape(x).size())};
    if (side.axes.empty()) return std::nullopt;
    return side;
  }

  // The mean of squares of a row along axes, which are those of its own mean; or their sum, of a node for that.
  struct Squares {
    Row row;
    std::vector<int64_t> axes;
  };
  std::optional<Squares> mean_of_squares(const Node& mean) const {
    const std::optional<std::string> squared = squared_by(mean.inputs[0]);
    const std::optional<Row> of = squared ? row(*squared) : std::nullopt;
    if (!of) return std::nullopt;
    Squares found{*of, axes_of(mean, in_.shape(of->x).size())};
    if (found.axes.empty() || (!of->axes.empty() && of->axes != found.axes)) return std::nullopt;
    return found;
  }

  // A row over the root of its mean of squares and epsilon.
  std::optional<Normalization> quotient(const std::string& value) const {
    const Node* node = in_.operator_of(value);
    if (node == nullptr || node->inputs.size() != 2) return std::nullopt;
    if (node->type == "Div") {
      const auto found = over_root(node->inputs[0], root_of(node->inputs[1]));
      return found ? found : over_length(node->inputs[0], node->inputs[1]);
    }
    if (node->type != "Mul") return std::nullopt;
    for (const size_t i : {0, 1}) {
      if (const auto found = over_root(node->inputs[1 - i], inverse_of(node->inputs[i])))
        return found;
      const Node* inverse = made_by(node->inputs[i], "Reciprocal");
      const auto found =
          inverse == nullptr ? std::nullopt : over_length(node->inputs[1 - i], inverse->inputs[0]);
      if (found) return found;
    }
    return std::nullopt;
  }

  // The quotient, with a factor and an offset that are known.
  std::optional<Normalization> whole(const std::string& value) {
    const Node* add = made_by(value, "Add");
    if (add == nullptr) return with_factor(value);
    for (const size_t i : {0, 1}) {
      const TensorId offset = in_.known_tensor(add->inputs[i]);
      if (!offset.valid()) continue;
      std::optional<Normalization> found = with_factor(add->inputs[1 - i]);
      if (found) found->offset = offset;
      return found;
    }
    return std::nullopt;
  }

  // The integers under a root, or nothing.
  TensorId bytes_under_root(const std::string& value) const {
    const Node* root = made_by(value, "Sqrt");
    return root == nullptr ? TensorId{} : bytes(root->inputs[0]);
  }

 private:
  std::optional<std::string> squared_by(const std::string& value) const {
    if (const Node* power = made_by(value, "Pow"); power != nullptr)
      return number(power->inputs[1]) == 2.0f ? std::optional(power->inputs[0]) : std::nullopt;
    const Node* product = made_by(value, "Mul");
    if (product == nullptr || product->inputs[0] != product->inputs[1]) return std::nullopt;
    return product->inputs[0];
  }

  // What a root is of.
  std::optional<std::string> root_of(const std::string& value) const {
    const Node* root = made_by(value, "Sqrt");
    return root == nullptr ? std::nullopt : std::optional(root->inputs[0]);
  }

  // What one over a root is of.
  std::optional<std::string> inverse_of(const std::string& value) const {
    if (const Node* inverse = made_by(value, "Reciprocal"); inverse != nullptr)
      return root_of(inverse->inputs[0]);
    if (const Node* inverse = made_by(value, "Div"); inverse != nullptr)
      return number(inverse->inputs[0]) == 1.0f ? root_of(inverse->inputs[1]) : std::nullopt;
    const Node* power = made_by(value, "Pow");
    if (power == nullptr || number(power->inputs[1]) != -0.5f) return std::nullopt;
    return power->inputs[0];
  }

  std::optional<Normalization> over_root(const std::string& value,
                                         const std::optional<std::string>& sum) const {
    const std::optional<Row> of = sum ? row(value) : std::nullopt;
    const Node* add = sum ? made_by(*sum, "Add") : nullptr;
    if (!of || add == nullptr) return std::nullopt;
    for (const size_t i : {0, 1}) {
      const std::optional<float> epsilon = number(add->inputs[i]);
      const Node* mean = made_by(add->inputs[1 - i], "ReduceMean");
      if (!epsilon || mean == nullptr) continue;
      const std::optional<Squares> squares = mean_of_squares(*mean);
      if (!squares || squares->row.x != of->x || squares->row.axes != of->axes) continue;
      return Normalization{of->x, squares->axes, *epsilon, {}, {}, !of->axes.empty()};
    }
    return std::nullopt;
  }

  // What makes a value before it is repeated, and before it is limited from below by less than that.
  const Node* unlimited(const std::string& value, float less) const {
    const Node* node = in_.operator_of(value);
    if (node == nullptr || !node->domain.empty()) return nullptr;
    if (node->type == "Expand") return unlimited(node->inputs[0], less);
    if (node->type != "Clip" && node->type != "Max") return node;
    const bool is_clip = node->type == "Clip";
    const bool has_two = node->inputs.size() == 2 ||
                         (is_clip && node->inputs.size() == 3 && node->inputs[2].empty());
    if (!has_two) return nullptr;
    for (const size_t i : {1, 0}) {
      if (is_clip && i == 0) continue;
      const std::optional<float> least = number(node->inputs[i]);
      if (least && *least < less) return unlimited(node->inputs[1 - i], less);
    }
    return nullptr;
  }

  // Of x transposed, where the squares are of x and their sums are transposed alike: onnxruntime's optimiser takes transpositions from
  // before an operator to behind it.
  std::optional<Squares> in_order_of(const Squares& squares, const Node& moved, TensorId x) const {
    const graph::Node* maker = in_.maker_of(x);
    if (maker == nullptr || maker->kind != OpKind::Transpose || maker->inputs[0] != squares.row.x ||
        !squares.row.axes.empty())
      return std::nullopt;
    const auto& order = std::get<graph::TransposeAttrs>(maker->attributes).permutation;
    const auto given = moved.attributes.find("perm");
    if (given == moved.attributes.end() || !std::ranges::equal(order, given->second.integers()))
      return std::nullopt;
    Squares found{{x, {}}, {}};
    for (size_t i = 0; i < order.size(); ++i)
      if (std::ranges::find(squares.axes, order[i]) != squares.axes.end())
        found.axes.push_back(static_cast<int64_t>(i));
    return found;
  }

  // A row over its length: none that is not 0 is shorter than a step.
  std::optional<Normalization> over_length(const std::string& value,
                                           const std::string& length) const {
    const std::optional<Row> of = row(value);
    if (!of || !of->axes.empty()) return std::nullopt;
    const float step = in_.tensor(of->x).quantization.scale[0];
    const Node* node = unlimited(length, step);
    std::optional<Squares> squares;
    const Node* moved = node != nullptr && node->type == "Transpose" ? node : nullptr;
    if (moved != nullptr) node = in_.operator_of(moved->inputs[0]);
    if (node != nullptr && node->type == "ReduceL2") {
      const std::optional<Row> under = row(node->inputs[0]);
      if (under) squares = Squares{*under, axes_of(*node, in_.shape(under->x).size())};
    } else if (node != nullptr && node->type == "Sqrt") {
      const Node* sum = unlimited(node->inputs[0], step * step);
      if (sum != nullptr && sum->type == "ReduceSum") squares = mean_of_squares(*sum);
    }
    if (squares && moved != nullptr) squares = in_order_of(*squares, *moved, of->x);
    if (!squares || squares->row.x != of->x || !squares->row.axes.empty() || squares->axes.empty())
      return std::nullopt;
    int64_t count = 1;
    for (const int64_t axis : squares->axes) count *= in_.shape(of->x)[static_cast<size_t>(axis)];
    Normalization found{of->x, squares->axes, 0, {}, {}, false};
    found.times = 1 / std::sqrt(static_cast<float>(count));
    return found;
  }

  std::optional<Normalization> with_factor(const std::string& value) {
    const Node* product = made_by(value, "Mul");
    if (product != nullptr)
      for (const size_t i : {0, 1}) {
        const TensorId factor = in_.known_tensor(product->inputs[i]);
        if (!factor.valid()) continue;
        std::optional<Normalization> found = quotient(product->inputs[1 - i]);
        if (found) found->factor = factor;
        return found;
      }
    return quotient(value);
  }

  Reader& in_;
};

// The difference of two sides, which is at most as large as both together.
TensorId difference(Reader& in, const Side& a, const Side& b) {
  const auto words = [&](const Side& side) {
    const TensorId wide = widened(in, side.x, {});
    if (side.axes.empty() || !wide.valid()) return wide;
    return mean_of_words(in, wide, {side.axes, true}, in.tensor(wide).quantization.scale[0],
                         "mean");
  };
  const TensorId left = words(a), right = words(b);
  if (!left.valid() || !right.valid()) return {};
  const float step = in.tensor(left).quantization.scale[0] + in.tensor(right).quantization.scale[0];
  return in.emit(OpKind::Sub, BinaryAttrs{}, {left, right}, DataType::Int16, {{step}, {0}, 0},
                 "difference");
}

// d / sqrt(s), where s are bytes and so is the result: a table of 1 / sqrt. What is not above 0 has the root of the least step that is.
TensorId over_root_of_bytes(Reader& in, TensorId d, TensorId under, const QuantizedAs& as) {
  const graph::Tensor root = in.tensor(under);
  const float step = root.quantization.scale[0];
  const int64_t zero = root.quantization.zero_point[0];
  graph::LookupAttrs table;
  for (int64_t value = -128; value < 128; ++value) {
    const auto steps = static_cast<float>(std::max<int64_t>(value - zero, 1));
    table.results.push_back(std::lround(kLargestWord / std::sqrt(steps)));
  }
  const Quantization inverse{{1 / (std::sqrt(step) * kLargestWord)}, {0}, 0};
  const TensorId by =
      in.emit(OpKind::Lookup, std::move(table), {under}, DataType::Int16, inverse, "rsqrt");
  const Quantization part{{as.quantization.scale[0] / kParts}, {0}, 0};
  const TensorId y = in.emit(OpKind::Mul, BinaryAttrs{}, {d, by}, DataType::Int16, part, "normal");
  return in.requantize(y, as);
}

}  // namespace

TensorId written_norm(Reader& in, const Tail& tail) {
  if (!tail.as || tail.as->type != DataType::Int8 || tail.activation != graph::Activation::None)
    return {};
  Writing writing(in);
  const Node& node = in.node();
  const auto sides_of = [&](const Node& less) -> std::optional<std::pair<Side, Side>> {
    const std::optional<Side> a = writing.side(less.inputs[0]), b = writing.side(less.inputs[1]);
    if (!a || !b) return std::nullopt;
    return std::pair{*a, *b};
  };
  if (node.type == "Sub") {
    if (const std::optional<Row> row = writing.centred(node))
      return in.attempt([&] { return in.requantize(widened(in, row->x, row->axes), *tail.as); });
    const auto sides = sides_of(node);
    if (!sides) return {};
    return in.attempt([&]() -> TensorId {
      const TensorId y = difference(in, sides->first, sides->second);
      if (!y.valid()) return y;
      const float step = in.tensor(y).quantization.scale[0];
      return step <= tail.as->quantization.scale[0] / 4 ? in.requantize(y, *tail.as) : TensorId{};
    });
  }
  if (const std::optional<Normalization> whole = writing.whole(node.outputs.front()))
    return normalized_integers(in, *whole, tail);
  const TensorId under = node.type == "Div" ? writing.bytes_under_root(node.inputs[1]) : TensorId{};
  if (!under.valid()) return {};
  if (const std::optional<Row> row = writing.row(node.inputs[0]))
    return in.attempt(
        [&] { return over_root_of_bytes(in, widened(in, row->x, row->axes), under, *tail.as); });
  const Node* less = writing.made_by(node.inputs[0], "Sub");
  const auto sides = less == nullptr ? std::nullopt : sides_of(*less);
  if (!sides) return {};
  return in.attempt([&] {
    return over_root_of_bytes(in, difference(in, sides->first, sides->second), under, *tail.as);
  });
}

TensorId written_variance(Reader& in, const Tail& tail) {
  if (!tail.as || tail.as->type != DataType::Int8) return {};
  const auto squares = Writing(in).mean_of_squares(in.node());
  if (!squares) return {};
  constexpr float kMostSteps = 255;
  const Row& row = squares->row;
  int64_t count = 1;
  for (const int64_t axis : squares->axes) count *= in.shape(row.x)[static_cast<size_t>(axis)];
  const float most = kMostSteps * in.tensor(row.x).quantization.scale[0];
  const float step = tail.as->quantization.scale[0];
  // Squares that 16 bits cut off on the scale of the result make a mean of few that is cut off as well.
  constexpr int64_t kFew = 128;
  const float all = most * most / kLargestWord;
  if (!std::isnormal(all) || (all > step && count > kFew)) return {};
  return in.attempt([&] {
    const TensorId x = widened(in, row.x, row.axes);
    const TensorId square = in.emit(OpKind::Mul, BinaryAttrs{}, {x, x}, DataType::Int16,
                                    {{std::min(all, step)}, {0}, 0}, "square");
    const TensorId mean =
        mean_of_words(in, square, {squares->axes, true}, step / kParts, "variance");
    return in.requantize(mean, *tail.as);
  });
}

}  // namespace intarsia::onnx
