// Convolutions and fully connected layers: operations with weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "intarsia/plugin/rounding.h"
#include "legalise/gather.h"
#include "legalise/operators.h"
#include "legalise/weighted.h"
#include "legalise/window_axis.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kExpandedChannels = 8;  // the depth of the NPU's micro-blocks

// The window of either convolution, with the padding of a pad that it takes over. `turned`: a column, taken as the row that it is in
// memory.
struct Window {
  WindowAxis y, x;
  bool turned = false;
};

graph::Padding2d padding_of(const Node& pad) {
  const auto& a = pad.attrs<graph::PadAttrs>();
  return {a.before.at(1), a.before.at(2), a.after.at(1), a.after.at(2)};
}

template <typename Attrs>
Window window_of(const Attrs& a, const Shape& in, const Shape& weights, const Shape& out,
                 const graph::Padding2d& folded = {}) {
  return {
      {in.at(1), out.at(1), weights.at(1), a.stride_h, a.dilation_h, a.padding.top + folded.top},
      {in.at(2), out.at(2), weights.at(2), a.stride_w, a.dilation_w, a.padding.left + folded.left}};
}

Window upright_window_of(const Site& site, const Node* pad) {
  const graph::Padding2d folded = pad == nullptr ? graph::Padding2d{} : padding_of(*pad);
  const Shape& in =
      pad == nullptr ? site.in(0).shape : site.function.tensor(pad->inputs.at(0)).shape;
  if (const auto* a = std::get_if<graph::Conv2dAttrs>(&site.node.attributes))
    return window_of(*a, in, site.in(1).shape, site.out().shape, folded);
  return window_of(site.node.attrs<graph::DepthwiseConv2dAttrs>(), in, site.in(1).shape,
                   site.out().shape, folded);
}

// The hardware dilates by 1 or 2; the rest of a dilation becomes zeros between the weights.
struct Dilated {
  int64_t by, zeros;  // hardware's, and the factor left to the weights
  explicit Dilated(int64_t dilation) : by(dilation % 2 == 0 ? 2 : 1), zeros(dilation / by) {}
  int64_t kernel(int64_t size) const { return (size - 1) * zeros + 1; }
};

// How a window becomes one of the hardware's.
//
// A dilated window on a single line sees elements of one phase only, every `phases`-th of the line: where that divides the line,
// it is an image with a phase in each column, on which the window goes down without so many zeros between its weights.
//
// A window of one element takes any stride: its input is every stride-th element. Along a row
// `fold` neighbours can become the channels of one element where fold divides the stride and the
// row; the stride shrinks by that factor, and few channels become many, which the MAC array
// prefers.
struct Route {
  Window window;
  int64_t step_y = 1, step_x = 1;  // of the input's elements
  int64_t fold = 1, ahead = 0;     // `ahead`: zeros before each row of weights
  int64_t phases = 1;
};

// Neither more than one element nor a window over more.
bool is_trivial(const WindowAxis& axis) {
  return axis.extent == 1 && axis.places == 1 && axis.kernel == 1 && axis.before == 0;
}

// Steps of the MAC array, whose micro-blocks are two elements high and wide; along a single row they are four wide.
int64_t phase_steps(const WindowAxis& line, int64_t phases) {
  const int64_t taps = Dilated(line.dilation / phases).kernel(line.kernel);
  if (phases == 1) return taps * round_up(line.places, 4);
  return taps * round_up(line.places / phases, 2) * round_up(phases, 2);
}

Route phased(const Window& window) {
  Route route{window};
  const bool along_row = is_trivial(window.y);
  if (along_row == is_trivial(window.x)) return route;
  const WindowAxis& line = along_row ? window.x : window.y;
  if (line.step() != 1) return route;
  int64_t least = phase_steps(line, 1);
  for (int64_t phases = 2; phases <= line.dilation; ++phases) {
    if (line.dilation % phases != 0 || line.extent % phases != 0 || line.places % phases != 0 ||
        line.before % phases != 0 || phase_steps(line, phases) >= least)
      continue;
    least = phase_steps(line, phases);
    route.phases = phases;
  }
  if (route.phases == 1) return route;
  route.window.y = {line.extent / route.phases,   line.places / route.phases, line.kernel, 1,
                    line.dilation / route.phases, line.before / route.phases};
  route.window.x = {route.phases, route.phases, 1, 1, 1, 0};
  return route;
}

Route folded(const Route& route, int64_t fold) {
  Route result = route;
  WindowAxis& x = result.window.x;
  const int64_t before = ceil_div(x.before, fold);
  result.fold = fold;
  result.ahead = before * fold - x.before;
  x.kernel = ceil_div(result.ahead + x.kernel, fold);
  x.extent /= fold;
  x.stride /= fold;
  x.before = before;
  return result;
}

// `channels` of the input where its rows can be folded, 0 where not.
Route route_of(const Window& window, int64_t channels) {
  constexpr int64_t kFewChannels = 16;  // more fill the array as they are
  Route route = phased(window);
  if (route.phases != 1) return route;
  const auto step_over = [](WindowAxis& axis) -> int64_t {
    if (axis.kernel != 1 || axis.before != 0 || axis.step() <= kMostStride) return 1;
    const int64_t step = axis.stride;
    axis.extent = axis.places;
    axis.stride = 1;
    return step;
  };
  route.step_y = step_over(route.window.y);
  route.step_x = step_over(route.window.x);
  const WindowAxis& x = route.window.x;
  if (channels == 0 || x.dilation != 1 || route.step_x != 1 || x.places == 1) return route;
  Route best = route;
  const auto cost = [&](const Route& r) {
    return mac_steps(r.window.y.kernel, r.window.x.kernel, channels * r.fold);
  };
  for (int64_t fold = 2; fold <= x.stride && channels * fold <= kMostExtent; ++fold) {
    if (x.stride % fold != 0 || x.extent % fold != 0) continue;
    const Route candidate = folded(route, fold);
    const bool needed = best.window.x.stride > kMostStride;
    if (needed || (channels < kFewChannels && cost(candidate) < cost(best))) best = candidate;
  }
  return best;
}

Reason check_window(const Window& w, int64_t channels) {
  const Window& mapped = route_of(w, channels).window;
  if (check_strides(mapped.y, mapped.x)) return check_strides(w.y, w.x);
  if (Reason reason = check_kernel(mapped.y, mapped.x)) return reason;
  return check_pads(mapped.y, mapped.x);
}

int64_t foldable_channels(const Site& site) {
  const int64_t channels = site.in(0).shape.at(3);
  if (site.node.kind == graph::OpKind::Conv2d)
    return site.in(1).shape.at(3) == channels ? channels : 0;
  const int64_t multiplier = site.node.attrs<graph::DepthwiseConv2dAttrs>().multiplier;
  return multiplier > 1 && channels <= kExpandedChannels ? channels : 0;
}

// What a column has too high or too far apart may be possible along a row, whose windows are not as high, can be folded and can
// overlap in memory.
Window window_of(const Site& site, const Node* pad = nullptr) {
  const Window w = upright_window_of(site, pad);
  if (!is_trivial(w.x) || is_trivial(w.y)) return w;
  const int64_t channels = foldable_channels(site);
  if (!check_window(w, channels)) return w;
  const Window turned = {w.x, w.y, true};
  return w.y.dilation == 1 || !check_window(turned, channels) ? turned : w;
}

Reason check_window(const Site& site, const Node* pad = nullptr) {
  return check_window(window_of(site, pad), foldable_channels(site));
}

// [outer][kh][kw][inner] with the zeros of a dilation.
Weights dilate(const Weights& weights, int64_t outer, int64_t kh, int64_t kw, int64_t inner,
               const Dilated& y, const Dilated& x) {
  const int64_t to_h = y.kernel(kh), to_w = x.kernel(kw);
  Weights result(static_cast<size_t>(outer * to_h * to_w * inner), 0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t ky = 0; ky < kh; ++ky)
      for (int64_t kx = 0; kx < kw; ++kx)
        std::copy_n(weights.begin() + ((o * kh + ky) * kw + kx) * inner, inner,
                    result.begin() + ((o * to_h + ky * y.zeros) * to_w + kx * x.zeros) * inner);
  return result;
}

template <typename T>
std::vector<T> slice(const std::vector<T>& all, int64_t first, int64_t count) {
  return {all.begin() + first, all.begin() + first + count};
}

graph::TensorId input_of(const Builder& builder, const Node& node) {
  const Node* pad = builder.folded_pad(node.inputs.at(0));
  return pad == nullptr ? node.inputs.at(0) : pad->inputs.at(0);
}

// Weights of folded rows: [outer][kh][kw][inner] -> [outer][kh][folded kw][fold * inner].
Weights fold_weights(const Weights& weights, int64_t outer, int64_t kw, int64_t inner,
                     const Route& route) {
  const int64_t to_w = route.window.x.kernel * route.fold;  // in unfolded elements
  Weights result(static_cast<size_t>(outer * to_w * inner), 0);
  for (int64_t o = 0; o < outer; ++o)
    std::copy_n(weights.begin() + o * kw * inner, kw * inner,
                result.begin() + (o * to_w + route.ahead) * inner);
  return result;
}

// A line of elements as rows of `count`.
Operand in_rows_of(const Program& program, Operand operand, int64_t count) {
  const Extent& all = program.tensors.at(static_cast<size_t>(operand.tensor)).extent;
  const Walk walk = operand.walk.value_or(Walk{int64_t{all.width} * all.depth, all.depth});
  const bool is_row = operand.extent.height == 1;
  const int64_t each = is_row ? operand.step.width * walk.x : operand.step.height * walk.y;
  const auto rows = static_cast<int32_t>(operand.extent.height * operand.extent.width / count);
  const int64_t first = operand.origin.height * walk.y + operand.origin.width * walk.x;
  operand.origin = {0, 0, static_cast<int32_t>(operand.origin.depth + first)};
  operand.step = {1, 1, operand.step.depth};
  operand.extent = {rows, static_cast<int32_t>(count), operand.extent.depth};
  operand.walk = Walk{count * each, each};
  return operand;
}

// One CONV or DEPTHWISE on an image, or channels of it. `weights` are those of the undilated
// window, [outer][kh][kw][inner].
void emit_window(Builder& builder, const Site& site, Operation op, const Window& window,
                 const Route& route, const SharedWeights& weights, int64_t inner,
                 graph::Activation activation) {
  std::optional<Gather> gather;
  if (builder.may_gather() && op.kind == OperationKind::Conv && inner == op.ifm.extent.depth) {
    const WindowAxis& rows = route.window.y;
    const int64_t steps = mac_steps(rows.kernel, route.window.x.kernel, inner * route.fold);
    gather = gather_rows(builder.program(), op.ifm, op.ofm.extent, rows, window.x, steps);
  }
  const Window& w = gather ? window : route.window;
  const Dilated y(w.y.dilation), x(w.x.dilation);
  op.weights = weights;
  if (gather) {
    builder.note_gather();
    op.ifm = gathered(builder, op.ifm, *gather, window.x);
  } else if (route.fold != 1) {
    const int64_t kw = window.x.kernel;
    const auto rows = static_cast<int64_t>(weights.size()) / (kw * inner);
    op.weights = fold_weights(weights, rows, kw, inner, route);
    inner *= route.fold;
    Extent extent = op.ifm.extent;
    extent.width = static_cast<int32_t>(extent.width / route.fold);
    extent.depth = static_cast<int32_t>(extent.depth * route.fold);
    op.ifm = builder.reshaped(op.ifm, extent);
  } else if (route.phases != 1) {
    op.ifm = in_rows_of(builder.program(), op.ifm, route.phases);
    op.ofm = in_rows_of(builder.program(), op.ofm, route.phases);
  }
  const int64_t each = w.y.kernel * w.x.kernel * inner;
  if (y.zeros != 1 || x.zeros != 1)
    op.weights = dilate(op.weights, static_cast<int64_t>(op.weights.size()) / each, w.y.kernel,
                        w.x.kernel, inner, y, x);
  op.kernel = {static_cast<int32_t>(y.kernel(w.y.kernel)),
               static_cast<int32_t>(x.kernel(w.x.kernel)),
               static_cast<int32_t>(w.y.step()),
               static_cast<int32_t>(w.x.step()),
               static_cast<int32_t>(y.by),
               static_cast<int32_t>(x.by)};
  op.pads = {static_cast<int32_t>(w.y.before), static_cast<int32_t>(w.x.before),
             static_cast<int32_t>(w.y.after()), static_cast<int32_t>(w.x.after())};
  op.ifm.step.height *= static_cast<int32_t>(route.step_y);
  op.ifm.step.width *= static_cast<int32_t>(route.step_x);
  op.ifm.extent.height = static_cast<int32_t>(w.y.read());
  op.ifm.extent.width = static_cast<int32_t>(w.x.read());
  if (gather) {
    // A row of the window is one element.
    op.kernel.width = op.kernel.stride_x = op.kernel.dilation_x = 1;
    op.pads.left = op.pads.right = 0;
    op.ifm.extent.width = op.ofm.extent.width;
  }
  emit_weighted(builder, std::move(op), site, activation);
}

// Whether the windows are copied beside each other, for strides and kernels that the hardware has not.
bool gathers_windows(const Site& site) {
  constexpr int64_t kMostRows = 64;
  const Window w = window_of(site);
  return check_window(site) && site.node.kind == graph::OpKind::Conv2d &&
         foldable_channels(site) != 0 && w.x.dilation == 1 && w.y.kernel <= kMostRows &&
         w.y.kernel * w.x.kernel * site.in(0).shape.at(3) <= kMostExtent && !check_pads(w.y, w.x);
}

// Why the elements of a window cannot be copied into rows of their own, for windows of whatever kind.
Reason check_taps(const Window& w) {
  constexpr int64_t kMostTaps = kMostKernelHeight;
  const int64_t taps = std::ssize(seen_taps(w.y, w.x)), places = w.y.places * w.x.places;
  if (taps > kMostTaps)
    return fmt::format("the window has {} elements to copy, more than {}", taps, kMostTaps);
  if (places > kMostExtent || taps * w.y.places > kMostExtent)
    return fmt::format("copying {} elements of {} windows takes an extent above {}", taps, places,
                       kMostExtent);
  return std::nullopt;
}

bool gathers_taps(const Site& site) {
  return check_window(site) && !gathers_windows(site) && !check_taps(window_of(site));
}

// Whether that is quicker than the zeros between the weights of a dilated window.
bool saves_zeros(const Site& site) {
  const Window w = window_of(site);
  const Dilated y(w.y.dilation), x(w.x.dilation);
  if ((y.zeros == 1 && x.zeros == 1) || phased(w).phases != 1 || check_taps(w)) return false;
  const Shape& weights = site.in(1).shape;
  const int64_t depth = site.node.kind == graph::OpKind::Conv2d ? weights.at(3) : 1;
  const auto taps = std::ssize(seen_taps(w.y, w.x));
  const int64_t saved =
      mac_steps(y.kernel(w.y.kernel), x.kernel(w.x.kernel), depth) - mac_steps(taps, 1, depth);
  const Shape &in = site.in(0).shape, &out = site.out().shape;
  const int64_t places = out.at(1) * out.at(2);
  constexpr int64_t kOperations = 3;  // of a tap: its copy, and a border of a row and a column
  return static_cast<double>(saved * places * out.at(3)) >
         copy_steps(taps * places * in.at(3), kOperations * taps);
}

// How a node gathers the elements of its windows; no taps where it does not.
std::vector<Tap> taps_of(Builder& builder, const Site& site) {
  if (builder.folded_pad(site.node.inputs.at(0)) != nullptr) return {};
  const Window w = window_of(site);
  if (gathers_taps(site)) return seen_taps(w.y, w.x);
  if (!builder.may_gather() || check_window(site) || !saves_zeros(site)) return {};
  builder.note_gather();
  return seen_taps(w.y, w.x);
}

// The window over such rows. Weights: [outer][kh][kw][inner].
Operation with_taps(Operation op, const Site& site, const std::vector<Tap>& taps,
                    const Weights& weights, int64_t inner) {
  const int64_t width = site.in(1).shape.at(2), each = site.in(1).shape.at(1) * width * inner;
  const auto outer = static_cast<int64_t>(weights.size()) / each;
  op.kernel.height = static_cast<int32_t>(taps.size());
  Weights seen = op.weights;
  for (int64_t o = 0; o < outer; ++o)
    for (const Tap& tap : taps) {
      const auto from = weights.begin() + o * each + (tap.y * width + tap.x) * inner;
      seen.insert(seen.end(), from, from + inner);
    }
  op.weights = std::move(seen);
  return op;
}

// The weights of groups, [O][KH][KW][C / groups], some groups at a time. Groups of one channel and one filter are what the
// depthwise unit does; of several small ones as many are taken at once as a micro-block is deep, which costs the MAC array no more
// steps than one of them: the weights between a filter and the channels of other groups are zero.
class GroupedWeights {
 public:
  GroupedWeights(const Shape& shape, int64_t channels, SharedWeights weights)
      : weights_(std::move(weights)),
        taps_(shape.at(1) * shape.at(2)),
        depth_(shape.at(3)),
        groups_(channels / depth_),
        filters_(shape.at(0) / groups_),
        at_once_(is_depthwise() ? groups_
                                : std::clamp<int64_t>(kExpandedChannels / depth_, 1, groups_)) {}

  int64_t groups() const { return groups_; }
  int64_t filters() const { return filters_; }  // of a group
  int64_t at_once() const { return at_once_; }
  bool is_depthwise() const { return groups_ > 1 && depth_ == 1 && filters_ == 1; }

  struct Part {
    int64_t channels, filters;
    int64_t inner;  // channels that a filter has weights for
    SharedWeights weights;
  };
  Part part(int64_t first) const {
    const int64_t count = std::min(at_once_, groups_ - first), each = taps_ * depth_;
    Part part{count * depth_, count * filters_, is_depthwise() ? 1 : count * depth_, weights_};
    if (groups_ == 1 || is_depthwise()) return part;
    Weights own(static_cast<size_t>(part.filters * taps_ * part.inner), 0);
    for (int64_t filter = 0; filter < part.filters; ++filter)
      for (int64_t tap = 0; tap < taps_; ++tap)
        std::copy_n(weights_.begin() + (first * filters_ + filter) * each + tap * depth_, depth_,
                    own.begin() + (filter * taps_ + tap) * part.inner + filter / filters_ * depth_);
    part.weights = std::move(own);
    return part;
  }

 private:
  SharedWeights weights_;
  int64_t taps_, depth_, groups_, filters_, at_once_;
};

// What a node's windows read: an image in one row where they are turned.
Operand windows_in(Builder& builder, const Node& node, const Window& window) {
  const graph::TensorId id = input_of(builder, node);
  const Operand in = builder.read(id);
  if (!window.turned) return in;
  const auto places = static_cast<int32_t>(window.x.extent);
  return builder.read_as(id, {in.extent.height / places, places, in.extent.depth});
}

// Where they write: all places of an image in one row where they are gathered so, too.
Operand windows_out(Builder& builder, const Site& site, bool in_rows) {
  const Shape& out = site.out().shape;
  const graph::TensorId id = site.node.outputs.at(0);
  if (!in_rows) return builder.write(id);
  return builder.write_as(
      id, {static_cast<int32_t>(out.at(0)), static_cast<int32_t>(out.at(1) * out.at(2)),
           static_cast<int32_t>(out.at(3))});
}

// Why neither the hardware's windows nor copies do it.
Reason check_convolution(const Site& site) {
  const Reason reason = check_window(site);
  if (!reason || gathers_windows(site)) return std::nullopt;
  const Reason beside = check_taps(window_of(site));
  return beside ? Reason(fmt::format("{}; {}", *reason, *beside)) : std::nullopt;
}

// Convolutions in place of one, as many as copies are allowed.
constexpr int64_t kMostRowsOfWindows = 64;

void emit_by_rows(Builder& builder, const Site& site, const Operation& op, const Window& w,
                  graph::Activation activation) {
  const std::vector<Operand> rows = windows_by_rows(builder, op.ifm, w.y, w.x);
  for (size_t place = 0; place < rows.size(); ++place) {
    Operation row = op;
    row.ifm = rows[place];
    row.ofm = box(op.ofm, {static_cast<int32_t>(place), 0, 0},
                  {1, op.ofm.extent.width, op.ofm.extent.depth});
    row.kernel.height = static_cast<int32_t>(w.y.kernel);
    emit_weighted(builder, std::move(row), site, activation);
  }
}

// Windows are copied beside each other, or each row of them is a convolution, which takes less memory and reads the weights again.
void emit_gathered(Builder& builder, const Site& site, Operation op, const Window& w,
                   SharedWeights weights, graph::Activation activation) {
  op.weights = std::move(weights);
  if (w.y.places <= kMostRowsOfWindows && !builder.confirmed_only()) {
    if (!builder.may_gather()) {
      emit_by_rows(builder, site, op, w, activation);
      return;
    }
    builder.note_copied_windows();
  }
  op.ifm = gathered_windows(builder, op.ifm, w.y, w.x);
  emit_weighted(builder, std::move(op), site, activation);
}

}  // namespace

Reason refuses_conv2d(const Site& site) {
  const Shape& weights = site.in(1).shape;
  const auto each = static_cast<size_t>(weights.at(1) * weights.at(2) * weights.at(3));
  if (Reason reason = check_convolution(site)) return reason;
  return check_weights(site, static_cast<size_t>(weights.at(0)), each, each, 1);
}

Reason refuses_depthwise_conv2d(const Site& site) {
  const Shape& weights = site.in(1).shape;
  if (Reason reason = check_convolution(site)) return reason;
  const auto channels = static_cast<size_t>(weights.at(3));
  return check_weights(site, channels, static_cast<size_t>(weights.at(1) * weights.at(2)), 1,
                       channels);
}

Reason refuses_fully_connected(const Site& site) {
  const Shape& weights = site.in(1).shape;
  const auto depth = static_cast<size_t>(weights.at(1));
  if (weights.at(1) > kMostExtent) return fmt::format("{} inputs are above {}", depth, kMostExtent);
  const int64_t rows = element_count(site.in(0).shape) / weights.at(1);
  if (rows > kMostExtent) return fmt::format("{} rows are above {}", rows, kMostExtent);
  return check_weights(site, static_cast<size_t>(weights.at(0)), depth, depth, 1);
}

bool folds_into_window(const Site& pad, const Site& window) {
  using graph::OpKind;
  if (window.node.kind != OpKind::Conv2d && window.node.kind != OpKind::DepthwiseConv2d)
    return false;
  const graph::TensorId padded = pad.node.outputs.at(0);
  if (std::count(window.node.inputs.begin(), window.node.inputs.end(), padded) != 1 ||
      window.node.inputs.at(0) != padded)
    return false;
  const auto& a = pad.node.attrs<graph::PadAttrs>();
  if (a.before.size() != 4 || a.before[0] + a.after[0] + a.before[3] + a.after[3] != 0)
    return false;
  return !check_window(window, &pad.node).has_value();
}

void legalise_conv2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in(1).shape;  // [O, KH, KW, C / groups]
  const Window window = window_of(site, builder.folded_pad(node.inputs.at(0)));
  const Route route = route_of(window, foldable_channels(site));
  const std::vector<Tap> taps = taps_of(builder, site);
  const bool gathers = builder.folded_pad(node.inputs.at(0)) == nullptr && gathers_windows(site);
  const Operand ifm = windows_in(builder, node, window),
                ofm = windows_out(builder, site, window.turned || !taps.empty());
  const GroupedWeights grouped(shape, ifm.extent.depth, read_weights(site));
  const std::vector<ChannelScale> scales = channel_scales(site, static_cast<size_t>(shape.at(0)));
  const int64_t images = site.out().shape.at(0);
  const graph::Activation activation = node.attrs<graph::Conv2dAttrs>().activation;
  for (int64_t n = 0; n < images; ++n) {
    Operand from = image(ifm, n, images);
    if (!taps.empty()) from = gathered_taps(builder, from, window.y, window.x, taps);
    for (int64_t first = 0; first < grouped.groups(); first += grouped.at_once()) {
      const GroupedWeights::Part part = grouped.part(first);
      Operation op =
          builder.start(grouped.is_depthwise() ? OperationKind::Depthwise : OperationKind::Conv,
                        channels(from, first * shape.at(3), part.channels),
                        channels(image(ofm, n, images), first * grouped.filters(), part.filters));
      op.scales = slice(scales, first * grouped.filters(), part.filters);
      if (gathers)
        emit_gathered(builder, site, std::move(op), window, part.weights, activation);
      else if (!taps.empty())
        emit_weighted(builder, with_taps(std::move(op), site, taps, part.weights, part.inner), site,
                      activation);
      else
        emit_window(builder, site, std::move(op), window, route, part.weights, part.inner,
                    activation);
    }
  }
}

// With a multiplier every input channel feeds `multiplier` outputs, which the depthwise unit
// cannot: a few input channels at a time, as many as a micro-block is deep, become a convolution
// whose weights are zero off the diagonal.
void legalise_depthwise_conv2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const auto& a = node.attrs<graph::DepthwiseConv2dAttrs>();
  const Shape& shape = site.in(1).shape;  // [1, KH, KW, C * multiplier]
  const Window window = window_of(site, builder.folded_pad(node.inputs.at(0)));
  const Route route = route_of(window, foldable_channels(site));
  const std::vector<Tap> taps = taps_of(builder, site);
  const Operand ifm = windows_in(builder, node, window),
                ofm = windows_out(builder, site, window.turned || !taps.empty());
  const int64_t all = shape.at(3), kernel = shape.at(1) * shape.at(2), m = a.multiplier;
  const Weights from = read_weights(site);
  const std::vector<ChannelScale> scales = channel_scales(site, static_cast<size_t>(all));
  const int64_t images = site.out().shape.at(0);
  const int64_t at_once = m == 1 ? all : std::min(kExpandedChannels, all / m);  // input channels
  std::vector<Operand> inputs;
  for (int64_t n = 0; n < images; ++n) {
    inputs.push_back(image(ifm, n, images));
    if (!taps.empty())
      inputs.back() = gathered_taps(builder, inputs.back(), window.y, window.x, taps);
  }

  for (int64_t first = 0; first < all / m; first += at_once) {
    const int64_t in = std::min(at_once, all / m - first), out = in * m, inner = m == 1 ? 1 : in;
    Weights weights(static_cast<size_t>(out * kernel * inner), 0);
    for (int64_t o = 0; o < out; ++o)
      for (int64_t k = 0; k < kernel; ++k)
        weights[static_cast<size_t>((o * kernel + k) * inner + (m == 1 ? 0 : o / m))] =
            from[static_cast<size_t>(k * all + first * m + o)];
    const SharedWeights own = std::move(weights);
    for (int64_t n = 0; n < images; ++n) {
      Operation op = builder.start(m == 1 ? OperationKind::Depthwise : OperationKind::Conv,
                                   channels(inputs[static_cast<size_t>(n)], first, in),
                                   channels(image(ofm, n, images), first * m, out));
      op.scales = slice(scales, first * m, out);
      if (!taps.empty())
        emit_weighted(builder, with_taps(std::move(op), site, taps, own, inner), site,
                      a.activation);
      else
        emit_window(builder, site, std::move(op), window, route, own, inner, a.activation);
    }
  }
}

// The rows of the input are the elements of an image, laid out as squarely as they divide.
void legalise_fully_connected(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in(1).shape;  // [O, I]
  const int64_t rows = element_count(site.in(0).shape) / shape.at(1);
  int64_t height = static_cast<int64_t>(std::sqrt(static_cast<double>(rows)));
  while (rows % height != 0) --height;
  const auto h = static_cast<int32_t>(height), w = static_cast<int32_t>(rows / height);
  Operation op = builder.start(
      OperationKind::Conv,
      builder.read_as(node.inputs.at(0), {h, w, static_cast<int32_t>(shape.at(1))}),
      builder.write_as(node.outputs.at(0), {h, w, static_cast<int32_t>(shape.at(0))}));
  op.weights = read_weights(site);
  op.scales = channel_scales(site, static_cast<size_t>(shape.at(0)));
  emit_weighted(builder, std::move(op), site, node.attrs<graph::FullyConnectedAttrs>().activation);
}

}  // namespace intarsia::targets::ethos_u
