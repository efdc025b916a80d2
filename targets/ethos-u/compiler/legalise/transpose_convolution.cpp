// Transposed convolutions, phase by phase: the output elements whose coordinates leave the same
// remainder by the stride form an ordinary convolution of the input with every stride-th weight. It
// multiplies no inserted zeros, and takes any stride. Where that takes less time, all phases of a row are one convolution, with
// zeros for the taps that a phase does not have: few filters leave most of a micro-block idle, and what the phases make lies
// beside each other, in place of a pixel here and there. Where zeros between the elements of the input, which the NPU thinks of
// while it reads, take less time than the phases do to begin, a stride of two is one convolution of all that.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "legalise/transpose_phases.h"
#include "legalise/weighted.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr size_t kMostPhases = 64;

// The window over an axis with zeros between its elements; nothing where the NPU has none. All axes are spread out or none is, which
// a single element does not see.
std::optional<WindowAxis> spread_axis(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                      int64_t pad) {
  const bool is_single = in == 1 && out == 1 && kernel == 1 && pad == 0;
  if ((stride != 2 && !is_single) || pad >= kernel) return std::nullopt;
  return WindowAxis{2 * in, out, kernel, 1, 1, kernel - 1 - pad};
}

struct Spread {
  WindowAxis y, x;
};

std::optional<Spread> spread_of(const Site& site) {
  const auto& a = site.node.attrs<graph::TransposeConv2dAttrs>();
  const Shape &in = site.in(0).shape, &weights = site.in(1).shape;
  const auto y = spread_axis(in.at(1), a.out_h, weights.at(1), a.stride_h, a.pad_top),
             x = spread_axis(in.at(2), a.out_w, weights.at(2), a.stride_w, a.pad_left);
  if (!y || !x || check_kernel(*y, *x) || check_pads(*y, *x)) return std::nullopt;
  return Spread{*y, *x};
}

// How long each way takes, about.
class Costs {
 public:
  Costs(const Site& site, const Extent& micro_block)
      : weights_(site.in(1).shape),
        micro_block_(micro_block),
        wide_(site.in(0).type == DataType::Int16) {}

  int64_t of(const Spread& spread) const { return convolution(spread.y, spread.x, 1); }
  int64_t of(const Phases& phases) const {
    int64_t cycles = 0;
    for (const Phase& y : phases.y)
      for (const Phase& x : phases.x) cycles += convolution(y.window, x.window, 1);
    return cycles;
  }
  int64_t of(const Phases& phases, const JoinedPhases& x) const {
    int64_t cycles = 0;
    for (const Phase& y : phases.y) cycles += convolution(y.window, x.window, x.phases);
    return cycles;
  }

 private:
  // The MAC array, and what a convolution takes beside its sums: it begins, fetches its first elements and writes its last ones, each
  // an access to SRAM, as beginning is; and its scales, which come from the slowest of memories a byte a cycle or slower.
  int64_t convolution(const WindowAxis& y, const WindowAxis& x, int64_t times) const {
    const int64_t filters = times * weights_.at(0);
    return 3 * isa::ethos_u::kAssumed.command_start +
           isa::ethos_u::kPublished.scale_bytes * filters + mac_cycles(y, x, filters);
  }
  // Four for each step of a micro-block: 32 channels (16 of 16 bits) for each tap, or eight for four (two).
  int64_t mac_cycles(const WindowAxis& y, const WindowAxis& x, int64_t filters) const {
    const int64_t taps = y.kernel * x.kernel, channels = weights_.at(3);
    const int64_t steps =
        std::min(taps * ceil_div(channels, int64_t{wide_ ? 16 : 32}),
                 ceil_div(taps, int64_t{wide_ ? 2 : 4}) * ceil_div(channels, int64_t{8}));
    return isa::ethos_u::kPublished.step * steps *
           ceil_div(y.places, int64_t{micro_block_.height}) *
           ceil_div(x.places, int64_t{micro_block_.width}) *
           ceil_div(filters, int64_t{micro_block_.depth});
  }

  const Shape& weights_;
  const Extent& micro_block_;
  bool wide_;
};

// One operation for each image, the weights turned round.
void emit_spread(Builder& builder, const Node& node, const Spread& spread) {
  const Site site{builder.module(), builder.function(), node};
  const Shape& shape = site.in(1).shape;  // [O, KH, KW, C]
  const int64_t depth = shape.at(3), taps = shape.at(1) * shape.at(2);
  const Weights all = read_weights(site);
  Weights turned(all.size());
  for (int64_t o = 0; o < shape.at(0); ++o)
    for (int64_t tap = 0; tap < taps; ++tap)
      std::copy_n(all.begin() + (o * taps + tap) * depth, depth,
                  turned.begin() + (o * taps + taps - 1 - tap) * depth);
  const SharedWeights weights = std::move(turned);
  const Operand ifm = builder.read(node.inputs.at(0)), ofm = builder.write(node.outputs.at(0));
  const int64_t images = site.out().shape.at(0);
  const auto read = [](const WindowAxis& axis) {
    return static_cast<int32_t>(ceil_div(axis.read(), int64_t{2}));
  };
  for (int64_t n = 0; n < images; ++n) {
    const Operand from = image(ifm, n, images);
    Operation op =
        builder.start(OperationKind::Conv,
                      box(from, {0, 0, 0}, {read(spread.y), read(spread.x), from.extent.depth}),
                      image(ofm, n, images));
    op.upscale = Upscale::Zeros;
    op.kernel.height = static_cast<int32_t>(spread.y.kernel);
    op.kernel.width = static_cast<int32_t>(spread.x.kernel);
    op.pads = {static_cast<int32_t>(spread.y.before), static_cast<int32_t>(spread.x.before),
               static_cast<int32_t>(spread.y.after()), static_cast<int32_t>(spread.x.after())};
    op.weights = weights;
    op.scales = channel_scales(site, static_cast<size_t>(shape.at(0)));
    emit_weighted(builder, std::move(op), site,
                  node.attrs<graph::TransposeConv2dAttrs>().activation);
  }
}

// Phases, each by itself or those of a row joined.
class PhaseEmitter {
 public:
  PhaseEmitter(Builder& builder, const Node& node)
      : builder_(builder),
        site_{builder.module(), builder.function(), node},
        attributes_(node.attrs<graph::TransposeConv2dAttrs>()),
        shape_(site_.in(1).shape),
        all_(read_weights(site_)),
        scales_(channel_scales(site_, static_cast<size_t>(shape_.at(0)))),
        ifm_(builder.read(node.inputs.at(0))) {}

  void emit(const Phases& phases) {
    const Operand ofm = builder_.write(site_.node.outputs.at(0));
    for (const Phase& y : phases.y)
      for (const Phase& x : phases.x) {
        const auto column = [&](int64_t, int64_t tap) {
          return x.taps > 0 ? x.first + attributes_.stride_w * (x.taps - 1 - tap) : -1;
        };
        emit_one(y, x.window, x.origin, 1, column, ofm,
                 static_cast<int32_t>(x.remainder + x.place * attributes_.stride_w),
                 static_cast<int32_t>(attributes_.stride_w));
      }
  }

  void emit_joined(const Phases& phases, const JoinedPhases& x) {
    const Extent whole = extent_of(site_.out().shape);
    const Operand ofm =
        builder_.write_as(site_.node.outputs.at(0),
                          extent(whole.height, whole.width / x.phases, whole.depth * x.phases));
    const auto column = [&](int64_t phase, int64_t tap) {
      const int64_t weight = phase + x.first - attributes_.stride_w * tap;
      return weight < shape_.at(2) ? weight : -1;
    };
    for (const Phase& y : phases.y) emit_one(y, x.window, 0, x.phases, column, ofm, 0, 1);
  }

 private:
  // `column`: of a phase along x and a tap of its window, the column of weights; below 0: none.
  template <typename Column>
  Weights weights_of(const Phase& y, int64_t taps, int64_t phases, const Column& column) const {
    const int64_t rows = y.window.kernel, depth = shape_.at(3), filters = shape_.at(0);
    Weights result(static_cast<size_t>(phases * filters * rows * taps * depth), 0);
    auto to = result.begin();
    for (int64_t phase = 0; phase < phases; ++phase)
      for (int64_t o = 0; o < filters; ++o)
        for (int64_t ky = 0; ky < rows; ++ky)
          for (int64_t kx = 0; kx < taps; ++kx, to += depth) {
            const int64_t row = y.first + attributes_.stride_h * (y.taps - 1 - ky);
            const int64_t at = column(phase, kx);
            if (y.taps > 0 && at >= 0)
              std::copy_n(all_.begin() + ((o * shape_.at(1) + row) * shape_.at(2) + at) * depth,
                          depth, to);
          }
    return result;
  }

  template <typename Column>
  void emit_one(const Phase& y, const WindowAxis& wx, int64_t origin, int64_t phases,
                const Column& column, const Operand& ofm, int32_t place, int32_t step) {
    const WindowAxis& wy = y.window;
    const SharedWeights weights = weights_of(y, wx.kernel, phases, column);
    const int64_t images = site_.out().shape.at(0);
    for (int64_t n = 0; n < images; ++n) {
      const Operand from = image(ifm_, n, images), to = image(ofm, n, images);
      Operation op = builder_.start(
          OperationKind::Conv,
          box(from, extent(y.origin, origin, 0), extent(wy.read(), wx.read(), from.extent.depth)),
          box(to, extent(y.remainder + y.place * attributes_.stride_h, place, 0),
              extent(wy.places, wx.places, to.extent.depth)));
      op.ofm.step.height *= static_cast<int32_t>(attributes_.stride_h);
      op.ofm.step.width *= step;
      op.kernel.height = static_cast<int32_t>(wy.kernel);
      op.kernel.width = static_cast<int32_t>(wx.kernel);
      op.pads = {static_cast<int32_t>(wy.before), static_cast<int32_t>(wx.before),
                 static_cast<int32_t>(wy.after()), static_cast<int32_t>(wx.after())};
      op.weights = weights;
      for (int64_t phase = 0; phase < phases; ++phase)
        op.scales.insert(op.scales.end(), scales_.begin(), scales_.end());
      emit_weighted(builder_, std::move(op), site_, attributes_.activation);
    }
  }

  Builder& builder_;
  Site site_;
  const graph::TransposeConv2dAttrs& attributes_;
  const Shape& shape_;  // [O, KH, KW, C]
  Weights all_;
  std::vector<ChannelScale> scales_;
  Operand ifm_;
};

// Where what they make lies as it is written, and the NPU has their windows.
std::optional<JoinedPhases> joined(Builder& builder, const Site& site, const Phases& phases) {
  const std::optional<JoinedPhases> x = joined_phases(site);
  if (!x || !builder.lies_in_one_piece(site.node.outputs.at(0))) return std::nullopt;
  for (const Phase& y : phases.y)
    if (check_kernel(y.window, x->window) || check_pads(y.window, x->window)) return std::nullopt;
  return x;
}

}  // namespace

Reason refuses_transpose_conv2d(const Site& site) {
  const Phases phases = phases_of(site);
  if (phases.y.size() * phases.x.size() > kMostPhases)
    return fmt::format("phases of {} x {} make more than {} convolutions", phases.y.size(),
                       phases.x.size(), kMostPhases);
  for (const Phase& y : phases.y)
    for (const Phase& x : phases.x) {
      if (Reason reason = check_kernel(y.window, x.window)) return reason;
      if (Reason reason = check_pads(y.window, x.window)) return reason;
    }
  const Shape& weights = site.in(1).shape;
  const auto each = static_cast<size_t>(weights.at(1) * weights.at(2) * weights.at(3));
  return check_weights(site, static_cast<size_t>(weights.at(0)), each, each, 1);
}

void legalise_transpose_conv2d(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  const Phases phases = phases_of(site);
  const Costs costs(site, builder.micro_block());
  int64_t least = costs.of(phases);
  std::optional<JoinedPhases> row;
  std::optional<Spread> spread;
  if (!builder.confirmed_only()) {
    row = joined(builder, site, phases);
    if (row && costs.of(phases, *row) > least) row.reset();
    if (row) least = costs.of(phases, *row);
    spread = spread_of(site);
    if (spread && costs.of(*spread) > least) spread.reset();
  }
  if (spread) return emit_spread(builder, node, *spread);
  PhaseEmitter emitter(builder, node);
  if (row) return emitter.emit_joined(phases, *row);
  emitter.emit(phases);
}

}  // namespace intarsia::targets::ethos_u
