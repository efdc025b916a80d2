#include "legalise/transpose_phases.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_u {
namespace {

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

}  // namespace

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

std::optional<JoinedPhases> joined_phases(const Site& site) {
  const auto& a = site.node.attrs<graph::TransposeConv2dAttrs>();
  const int64_t in = site.in(0).shape.at(2), kernel = site.in(1).shape.at(2), stride = a.stride_w;
  // The window's first tap sees the input that many elements before the place, its last one so many behind it.
  const int64_t before = kernel - 1 - a.pad_left, behind = a.pad_left + stride - 1;
  if (stride < 2 || a.out_w % stride != 0 || before < 0 || behind < 0) return std::nullopt;
  const int64_t first = before / stride;
  return JoinedPhases{{in, a.out_w / stride, first + behind / stride + 1, 1, 1, first},
                      stride,
                      a.pad_left + stride * first};
}

}  // namespace intarsia::targets::ethos_u
