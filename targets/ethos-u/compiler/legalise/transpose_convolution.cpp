// Transposed convolutions, phase by phase: the output elements whose coordinates leave the same
// remainder by the stride form an ordinary convolution of the input with every stride-th weight. It
// multiplies no inserted zeros, and takes any stride.
#include <algorithm>

#include <fmt/format.h>

#include "intarsia/plugin/rounding.h"
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
