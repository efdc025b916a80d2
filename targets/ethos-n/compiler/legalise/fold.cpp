// The ways to write a linear operator as convolutions, depthwise convolutions and vector products that the stack knows.
#include <algorithm>
#include <cstring>
#include <memory>

#include "intarsia/plugin/rounding.h"
#include "legalise/linear.h"
#include "legalise/rewriting_builder.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kKernels[] = {1, 2, 3, 5, 7, 9};
constexpr int64_t kLongestDepthwise = 7;
constexpr int64_t kMostWeights = int64_t{1} << 20;  // that a rewriting may have
constexpr int64_t kMostWeightsOfOutput = 131071;
constexpr int64_t kMostGroup = 16;  // periods that are folded, unless all
constexpr size_t kMostWays = 4;

int64_t floor_divide(int64_t value, int64_t by) {
  return value >= 0 ? value / by : -((by - 1 - value) / by);
}
std::optional<int64_t> known_kernel(int64_t taps) {
  for (const int64_t kernel : kKernels)
    if (kernel >= taps) return kernel;
  return std::nullopt;
}

// How an axis goes into the rewriting: `in` elements of the input and `out` of the output are one.
struct Folding {
  int64_t in = 1, out = 1;
  bool is_whole = false;
  int64_t stride = 1;  // that is kept; then nothing is folded
  // Of the new axis.
  int64_t before = 0, kernel = 1, inputs = 1, outputs = 1;
  int64_t missing = 0;  // elements of the input until the last group is full
};

struct Tap {
  int64_t place, in_group;  // of the new kernel, and which element of the group
};
std::optional<Tap> tap_of(const Axis& axis, const Folding& fold, int64_t out_of_group,
                          int64_t tap) {
  if (fold.stride != 1) return Tap{tap * axis.dilation, 0};
  const std::optional<int64_t> at = axis.source(out_of_group, tap);
  if (!at) return std::nullopt;
  if (fold.is_whole) return *at >= 0 && *at < axis.in ? std::optional(Tap{0, *at}) : std::nullopt;
  const int64_t group = floor_divide(*at, fold.in);
  return Tap{group + fold.before, *at - group * fold.in};
}

std::optional<Folding> fold(const Axis& axis, Folding folding) {
  if (folding.is_whole) {
    folding.in = axis.in, folding.out = axis.out;
    return folding;
  }
  if (axis.out % folding.out != 0) return std::nullopt;
  folding.inputs = ceil_div(axis.in, folding.in);
  folding.outputs = axis.out / folding.out;
  folding.missing = folding.inputs * folding.in - axis.in;
  int64_t least = 0, most = 0;
  if (folding.stride != 1) {
    least = -axis.before, most = (axis.kernel - 1) * axis.dilation - axis.before;
  } else {
    for (int64_t o = 0; o < folding.out; ++o)
      for (int64_t tap = 0; tap < axis.kernel; ++tap)
        if (const auto at = axis.source(o, tap)) {
          least = std::min(least, floor_divide(*at, folding.in));
          most = std::max(most, floor_divide(*at, folding.in));
        }
  }
  folding.before = -least;
  // Taps of nothing reach to where the input ends, so that there are no more outputs than wanted.
  const int64_t to_the_end = folding.inputs + folding.before - folding.outputs * folding.stride + 1;
  const std::optional<int64_t> kernel = known_kernel(std::max(most - least + 1, to_the_end));
  if (!kernel) return std::nullopt;
  folding.kernel = *kernel;
  return folding;
}

std::vector<Folding> foldings(const Axis& axis) {
  std::vector<Folding> all;
  for (int64_t periods = 1; periods <= kMostGroup; ++periods) {
    Folding folding;
    (axis.transposed ? folding.in : folding.out) = periods;
    (axis.transposed ? folding.out : folding.in) = periods * axis.stride;
    if (folding.in >= axis.in + axis.stride || folding.out > axis.out) break;
    if (const auto found = fold(axis, folding)) all.push_back(*found);
  }
  Folding whole;
  whole.is_whole = true;
  all.push_back(*fold(axis, whole));
  return all;
}

// Places of the new image that share weights have as many taps in the old one.
bool counts_agree(const Axis& axis, const Folding& fold) {
  for (int64_t o = 0; o < axis.out; ++o)
    if (axis.taps_inside(o) != axis.taps_inside(o % fold.out) || axis.taps_inside(o) == 0)
      return false;
  return true;
}

class Folder {
 public:
  Folder(const graph::Function& function, const graph::Node& node, const Linear& linear,
         const Folding& y, const Folding& x, bool is_depthwise)
      : function_(function),
        node_(node),
        linear_(linear),
        y_(y),
        x_(x),
        is_depthwise_(is_depthwise) {
    // The stack's depthwise kernels are square, and not of one tap where they stride.
    if (is_depthwise) y_.kernel = x_.kernel = std::max({y.kernel, x.kernel, y.stride});
  }

  int64_t inputs() const { return y_.in * x_.in * linear_.channels; }
  int64_t outputs() const { return y_.out * x_.out * linear_.outputs; }
  int64_t weights_of_output() const {
    return y_.kernel * x_.kernel * (is_depthwise_ ? 1 : inputs());
  }
  int64_t weight_count() const { return outputs() * weights_of_output(); }

  bool is_possible() const {
    if (is_depthwise_ && y_.kernel > kLongestDepthwise) return false;
    // Rows fold only where each is one piece.
    const bool folds_rows = y_.in > 1 || y_.out > 1;
    const bool rows_are_whole = x_.inputs == 1 && x_.outputs == 1 && x_.missing == 0;
    if (folds_rows && !rows_are_whole) return false;
    if (linear_.is_average && !(counts_agree(linear_.y, y_) && counts_agree(linear_.x, x_)))
      return false;
    return weights_of_output() <= kMostWeightsOfOutput && weight_count() <= kMostWeights;
  }

  Rewriting run() const {
    RewritingBuilder make(function_, node_);
    const Linear& l = linear_;
    const bool pads = y_.missing != 0 || x_.missing != 0;
    const Shape folded = {1, y_.inputs, x_.inputs, inputs()};
    const bool is_vector = is_a_vector_product();
    graph::TensorId input = make.operand(0, pads        ? Shape{1, l.y.in, l.x.in, l.channels}
                                            : is_vector ? Shape{1, inputs()}
                                                        : folded);
    if (pads) {
      const graph::TensorId padded =
          make.between(input, {1, l.y.in + y_.missing, l.x.in + x_.missing, l.channels});
      make.node(graph::OpKind::Pad, graph::PadAttrs{{0, 0, 0, 0}, {0, y_.missing, x_.missing, 0}},
                {input}, {padded});
      input = make.between(input, is_vector ? Shape{1, inputs()} : folded);
      make.node(graph::OpKind::Reshape,
                graph::ReshapeAttrs{is_vector ? Shape{1, inputs()} : folded}, {padded}, {input});
    }
    const graph::TensorId weights = add_weights(make, is_vector);
    const graph::TensorId bias = add_biases(make);
    const graph::TensorId output = make.result(
        0, is_vector ? Shape{1, outputs()} : Shape{1, y_.outputs, x_.outputs, outputs()});
    const auto behind = [](const Folding& fold) {
      return std::max<int64_t>(
          0, (fold.outputs - 1) * fold.stride + fold.kernel - fold.inputs - fold.before);
    };
    const graph::Padding2d padding{y_.before, x_.before, behind(y_), behind(x_)};
    const std::vector<graph::TensorId> operands = {input, weights, bias};
    if (is_vector)
      make.node(graph::OpKind::FullyConnected, graph::FullyConnectedAttrs{false, l.activation},
                operands, {output});
    else if (is_depthwise_)
      make.node(graph::OpKind::DepthwiseConv2d,
                graph::DepthwiseConv2dAttrs{y_.stride, x_.stride, 1, 1, 1, padding, l.activation},
                operands, {output});
    else
      make.node(graph::OpKind::Conv2d,
                graph::Conv2dAttrs{y_.stride, x_.stride, 1, 1, padding, l.activation}, operands,
                {output});
    return make.finish();
  }

 private:
  // Not of weights whose scales differ, which the stack's vector product lacks.
  bool is_a_vector_product() const {
    return !is_depthwise_ && y_.inputs == 1 && x_.inputs == 1 && y_.outputs == 1 &&
           x_.outputs == 1 && y_.kernel == 1 && x_.kernel == 1 && scales().size() == 1;
  }

  // One, or one for each new output.
  std::vector<float> scales() const {
    std::vector<float> all;
    for (int64_t py = 0; py < y_.out; ++py)
      for (int64_t px = 0; px < x_.out; ++px)
        for (int64_t o = 0; o < linear_.outputs; ++o) {
          const float scale =
              linear_.scales[linear_.scales.size() > 1 ? static_cast<size_t>(o) : 0];
          all.push_back(linear_.is_average ? scale / static_cast<float>(count(py, px)) : scale);
        }
    if (std::all_of(all.begin(), all.end(), [&](float scale) { return scale == all[0]; }))
      all.resize(1);
    return all;
  }
  int64_t count(int64_t py, int64_t px) const {
    return linear_.y.taps_inside(py) * linear_.x.taps_inside(px);
  }

  graph::TensorId add_biases(RewritingBuilder& make) const {
    std::vector<uint8_t> bytes;
    for (int64_t py = 0; py < y_.out; ++py)
      for (int64_t px = 0; px < x_.out; ++px)
        for (const int32_t of_output : linear_.biases) {
          const auto value = static_cast<int32_t>(
              linear_.is_average ? of_output * count(py, px) + linear_.nudge : of_output);
          bytes.resize(bytes.size() + 4);
          std::memcpy(bytes.data() + bytes.size() - 4, &value, 4);
        }
    return make.constant(DataType::Int32, {outputs()}, {}, std::move(bytes));
  }

  // Of a convolution [output][y][x][input], depthwise [y][x][output].
  graph::TensorId add_weights(RewritingBuilder& make, bool is_vector) const {
    const Linear& l = linear_;
    std::vector<uint8_t> bytes(static_cast<size_t>(weight_count()), 0);
    const auto place = [&](int64_t o, int64_t y, int64_t x, int64_t input) {
      const int64_t tap = y * x_.kernel + x;
      return static_cast<size_t>(is_depthwise_
                                     ? tap * outputs() + o
                                     : (o * y_.kernel * x_.kernel + tap) * inputs() + input);
    };
    for (int64_t py = 0; py < y_.out; ++py)
      for (int64_t ky = 0; ky < l.y.kernel; ++ky) {
        const std::optional<Tap> y = tap_of(l.y, y_, py, ky);
        for (int64_t px = 0; y && px < x_.out; ++px)
          for (int64_t kx = 0; kx < l.x.kernel; ++kx) {
            const std::optional<Tap> x = tap_of(l.x, x_, px, kx);
            for (int64_t o = 0; x && o < l.outputs; ++o)
              for (int64_t i = 0; i < l.channels_of_group; ++i) {
                const int64_t channel = o / l.outputs_of_group * l.channels_of_group + i;
                const int64_t from =
                    ((o * l.y.kernel + ky) * l.x.kernel + kx) * l.channels_of_group + i;
                bytes[place((py * x_.out + px) * l.outputs + o, y->place, x->place,
                            (y->in_group * x_.in + x->in_group) * l.channels + channel)] =
                    static_cast<uint8_t>(l.weights[static_cast<size_t>(from)]);
              }
          }
      }
    graph::Quantization quantization;
    quantization.scale = scales();
    quantization.zero_point.assign(quantization.scale.size(), 0);
    if (quantization.per_channel()) quantization.axis = is_depthwise_ ? 3 : 0;
    const Shape shape = is_vector       ? Shape{outputs(), inputs()}
                        : is_depthwise_ ? Shape{1, y_.kernel, x_.kernel, outputs()}
                                        : Shape{outputs(), y_.kernel, x_.kernel, inputs()};
    return make.constant(DataType::Int8, shape, std::move(quantization), std::move(bytes));
  }

  const graph::Function& function_;
  const graph::Node& node_;
  const Linear& linear_;
  Folding y_, x_;
  bool is_depthwise_;
};

std::optional<Folding> kept(const Axis& axis) {
  if (axis.transposed || (axis.stride != 2 && axis.out != 1)) return std::nullopt;
  Folding folding;
  folding.stride = 2;
  return fold(axis, folding);
}

}  // namespace

std::vector<Way> ways_to_fold(const graph::Function& function, const graph::Node& node,
                              const Linear& original) {
  const auto linear = std::make_shared<Linear>(original);
  for (Axis* axis : {&linear->y, &linear->x})
    if (axis->out == 1 && !axis->transposed) axis->stride = 1;
  std::vector<std::pair<int64_t, Way>> found;
  const auto offer = [&](const Folding& y, const Folding& x) {
    const bool folds = y.in > 1 || y.out > 1 || x.in > 1 || x.out > 1;
    const bool is_depthwise =
        !folds && linear->channels_of_group == 1 && linear->outputs_of_group == 1;
    for (const bool each : {true, false}) {
      if (each && !is_depthwise) continue;
      const Folder folder(function, node, *linear, y, x, each);
      if (folder.is_possible())
        found.emplace_back(folder.weight_count(),
                           [folder, linear] { return std::optional(folder.run()); });
    }
  };
  const bool strides = linear->y.stride == 2 || linear->x.stride == 2;
  if (const auto y = kept(linear->y), x = kept(linear->x); strides && y && x) offer(*y, *x);
  const std::vector<Folding> rows = foldings(linear->y), columns = foldings(linear->x);
  for (const Folding& y : rows)
    for (const Folding& x : columns) offer(y, x);
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Way> ways;
  for (auto& [weights, way] : found) {
    if (ways.size() == kMostWays) break;
    ways.push_back(std::move(way));
  }
  return ways;
}

}  // namespace intarsia::targets::ethos_n
