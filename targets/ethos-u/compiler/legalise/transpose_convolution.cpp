// Transposed convolutions, phase by phase: the output elements whose coordinates leave the same
// remainder by the stride form an ordinary convolution of the input with every stride-th weight. It
// multiplies no inserted zeros, and takes any stride. Where these zeros take less time than the phases do to begin, a stride of
// two is one convolution of the input with zeros between its elements, which the NPU thinks of while it reads.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
#include "intarsia/targets/ethos_u/timing.h"
#include "legalise/weighted.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

// One remainder along one axis. Tap k of the phase's kernel is weight first + stride * (taps - 1 -
// k).
struct Phase {
  int64_t remainder, first, taps;
  int64_t origin;  // of the input that it reads
  WindowAxis window;
  int64_t place = 0;  // of its output elements, the first one
};

Phase phase_of(int64_t remainder, int64_t in, int64_t out, int64_t kernel, int64_t stride,
               int64_t pad) {
  const int64_t shifted = remainder + pad, first = shifted % stride, newest = shifted / stride;
  const int64_t taps = first < kernel ? ceil_div(kernel - first, stride) : 0;
  // Without a tap the result is the bias: a single tap of zero.
  const int64_t before = std::max<int64_t>(taps, 1) - 1 - newest;
  const int64_t origin = taps == 0 ? 0 : std::max<int64_t>(-before, 0);
  const int64_t places = ceil_div(out - remainder, stride);
  return {remainder,
          first,
          taps,
          origin,
          {in - origin, places, std::max<int64_t>(taps, 1), 1, 1,
           taps == 0 ? 0 : std::max<int64_t>(before, 0)}};
}

// The places whose windows see some of the input; and those before and behind, where the result is the bias: what they read
// is multiplied with a single tap of zero.
void append_parts(const Phase& phase, int64_t in, std::vector<Phase>& parts) {
  const WindowAxis& w = phase.window;
  const int64_t before = std::clamp<int64_t>(w.before - w.kernel + 1, 0, w.places);
  const int64_t end = phase.taps == 0 ? before : std::clamp(w.extent + w.before, before, w.places);
  const auto append_outside = [&](int64_t first, int64_t last) {
    for (; first < last; first += in)
      parts.push_back({phase.remainder,
                       phase.first,
                       0,
                       0,
                       {in, std::min(in, last - first), 1, 1, 1, 0},
                       first});
  };
  append_outside(0, before);
  if (end > before) {
    Phase inside = phase;
    inside.place = before;
    inside.window.before -= before;
    inside.window.places = end - before;
    parts.push_back(inside);
  }
  append_outside(end, w.places);
}

struct Phases {
  std::vector<Phase> y, x;
};

Phases phases_of(const Site& site) {
  const auto& a = site.node.attrs<graph::TransposeConv2dAttrs>();
  const Shape &in = site.in(0).shape, &weights = site.in(1).shape;
  Phases result;
  for (int64_t r = 0; r < std::min(a.stride_h, a.out_h); ++r)
    append_parts(phase_of(r, in.at(1), a.out_h, weights.at(1), a.stride_h, a.pad_top), in.at(1),
                 result.y);
  for (int64_t r = 0; r < std::min(a.stride_w, a.out_w); ++r)
    append_parts(phase_of(r, in.at(2), a.out_w, weights.at(2), a.stride_w, a.pad_left), in.at(2),
                 result.x);
  return result;
}

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

// Cycles of the MAC array, four for each step of a micro-block: 32 channels (16 of 16 bits) for each tap, or eight for four (two).
int64_t mac_cycles(const Site& site, const Extent& micro_block, const WindowAxis& y,
                   const WindowAxis& x) {
  const Shape& weights = site.in(1).shape;
  const int64_t taps = y.kernel * x.kernel, channels = weights.at(3);
  const bool wide = site.in(0).type == DataType::Int16;
  const int64_t steps =
      std::min(taps * ceil_div(channels, int64_t{wide ? 16 : 32}),
               ceil_div(taps, int64_t{wide ? 2 : 4}) * ceil_div(channels, int64_t{8}));
  return isa::ethos_u::kPublished.step * steps * ceil_div(y.places, int64_t{micro_block.height}) *
         ceil_div(x.places, int64_t{micro_block.width}) *
         ceil_div(weights.at(0), int64_t{micro_block.depth});
}

// What a convolution takes beside its sums: it begins, fetches its first elements and writes its last ones, each an access to SRAM,
// as beginning is; and its scales, which come from the slowest of memories a byte a cycle or slower.
bool is_spread(const Site& site, const Extent& micro_block, const Spread& spread,
               const Phases& phases) {
  const int64_t each = 3 * isa::ethos_u::kAssumed.command_start +
                       isa::ethos_u::kPublished.scale_bytes * site.in(1).shape.at(0);
  int64_t cycles = -each;
  for (const Phase& y : phases.y)
    for (const Phase& x : phases.x)
      cycles += each + mac_cycles(site, micro_block, y.window, x.window);
  return mac_cycles(site, micro_block, spread.y, spread.x) <= cycles;
}

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
  const auto& a = node.attrs<graph::TransposeConv2dAttrs>();
  const Shape& shape = site.in(1).shape;  // [O, KH, KW, C]
  const int64_t filters = shape.at(0), depth = shape.at(3);
  const Phases phases = phases_of(site);
  const std::optional<Spread> spread = spread_of(site);
  if (spread && !builder.confirmed_only() &&
      is_spread(site, builder.micro_block(), *spread, phases))
    return emit_spread(builder, node, *spread);
  const Weights all = read_weights(site);
  const std::vector<ChannelScale> scales = channel_scales(site, static_cast<size_t>(filters));
  const Operand ifm = builder.read(node.inputs.at(0)), ofm = builder.write(node.outputs.at(0));
  const int64_t images = site.out().shape.at(0);
  for (const Phase& y : phases.y)
    for (const Phase& x : phases.x) {
      const WindowAxis &wy = y.window, &wx = x.window;
      Weights weights(static_cast<size_t>(filters * wy.kernel * wx.kernel * depth), 0);
      for (int64_t o = 0; o < filters; ++o)
        for (int64_t ky = 0; ky < y.taps; ++ky)
          for (int64_t kx = 0; kx < x.taps; ++kx) {
            const int64_t from_y = y.first + a.stride_h * (y.taps - 1 - ky);
            const int64_t from_x = x.first + a.stride_w * (x.taps - 1 - kx);
            std::copy_n(all.begin() + ((o * shape.at(1) + from_y) * shape.at(2) + from_x) * depth,
                        depth, weights.begin() + ((o * wy.kernel + ky) * wx.kernel + kx) * depth);
          }
      const SharedWeights own = std::move(weights);
      for (int64_t n = 0; n < images; ++n) {
        const Operand from = image(ifm, n, images), to = image(ofm, n, images);
        Operation op = builder.start(
            OperationKind::Conv,
            box(from, {static_cast<int32_t>(y.origin), static_cast<int32_t>(x.origin), 0},
                {static_cast<int32_t>(wy.read()), static_cast<int32_t>(wx.read()),
                 from.extent.depth}),
            box(to,
                {static_cast<int32_t>(y.remainder + y.place * a.stride_h),
                 static_cast<int32_t>(x.remainder + x.place * a.stride_w), 0},
                {static_cast<int32_t>(wy.places), static_cast<int32_t>(wx.places),
                 to.extent.depth}));
        op.ofm.step.height *= static_cast<int32_t>(a.stride_h);
        op.ofm.step.width *= static_cast<int32_t>(a.stride_w);
        op.kernel.height = static_cast<int32_t>(wy.kernel);
        op.kernel.width = static_cast<int32_t>(wx.kernel);
        op.pads = {static_cast<int32_t>(wy.before), static_cast<int32_t>(wx.before),
                   static_cast<int32_t>(wy.after()), static_cast<int32_t>(wx.after())};
        op.weights = own;
        op.scales = scales;
        emit_weighted(builder, std::move(op), site, a.activation);
      }
    }
}

}  // namespace intarsia::targets::ethos_u
