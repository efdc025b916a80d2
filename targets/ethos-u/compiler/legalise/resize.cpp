// Resizing of images. Twice, four and eight times the size is made by the hardware's doubling; other whole factors phase by
// phase: output elements whose neighbours lie alike become one operation that writes every factor-th element. What would take
// too many of these goes along one axis after the other (resize_lines.cpp).
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "hardware/limits.h"
#include "intarsia/plugin/rounding.h"
#include "legalise/operators.h"
#include "legalise/resize.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

using graph::Node;

constexpr int64_t kOne = kResizeOne;
constexpr size_t kMostResizedPieces = 64;

Neighbours nearest(int64_t at, int64_t in, int64_t out, const graph::ResizeAttrs& a) {
  const float scale = a.align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float place = (static_cast<float>(at) + (a.half_pixel_centers ? 0.5f : 0.0f)) * scale;
  const float rounded = a.align_corners ? std::round(place) : std::floor(place);
  const int64_t index = std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, in - 1);
  return {index, index, 0};
}

Neighbours blended(int64_t at, int64_t in, int64_t out, const graph::ResizeAttrs& a) {
  const int64_t scale = a.align_corners && out > 1 ? (kOne * (in - 1) + (out - 1) / 2) / (out - 1)
                                                   : (kOne * in + out / 2) / out;
  const int64_t place = at * scale + (a.half_pixel_centers ? scale / 2 - kOne / 2 : int64_t{0});
  const int64_t low = std::max<int64_t>(place / kOne, 0);
  const int64_t high = std::min(ceil_div(place, kOne), in - 1);
  if (high == low) return {low, low, 0};
  if (place - low * kOne == kOne) return {high, high, 0};
  return {low, high, place - low * kOne};
}

// Output elements first, first + factor, ... whose neighbours are low, low + 1, ...
struct Run {
  int64_t first, count, low;
  std::vector<int64_t> taps;  // weights of low, low + 1; a single one is the value itself
  int64_t shift = 0;          // their sum is 2^shift
};

std::vector<Run> runs_of(const Site& site, size_t axis, int64_t factor) {
  const std::vector<Neighbours> neighbours = neighbours_along(site, axis);
  const int64_t out = site.out().shape.at(axis);
  std::vector<Run> runs;
  for (int64_t remainder = 0; remainder < std::min(factor, out); ++remainder)
    for (int64_t at = remainder; at < out; at += factor) {
      const Neighbours n = neighbours[static_cast<size_t>(at)];
      Run run{at, 1, n.low, {1}};
      if (n.weight != 0 && n.low != n.high) {
        const int64_t common = std::gcd(n.weight, kOne);
        run.taps = {(kOne - n.weight) / common, n.weight / common};
        while ((common << run.shift) < kOne) ++run.shift;
      }
      const bool continues = at != remainder && runs.back().taps == run.taps &&
                             runs.back().low + runs.back().count == run.low;
      if (continues)
        ++runs.back().count;
      else
        runs.push_back(std::move(run));
    }
  return runs;
}

struct Pieces {
  int64_t factor_y, factor_x;
  std::vector<Run> y, x;
};

Pieces pieces_of(const Site& site) {
  const Shape &in = site.in().shape, &out = site.out().shape;
  // Between the corners, where these are aligned.
  const int64_t ends = site.node.attrs<graph::ResizeAttrs>().align_corners ? 1 : 0;
  const auto factor = [&](size_t axis) {
    return std::max<int64_t>((out.at(axis) - ends) / std::max<int64_t>(in.at(axis) - ends, 1), 1);
  };
  Pieces pieces{factor(1), factor(2), {}, {}};
  pieces.y = runs_of(site, 1, pieces.factor_y);
  pieces.x = runs_of(site, 2, pieces.factor_x);
  return pieces;
}

// How often the size doubles in both directions, where the hardware's doubling gives the result:
// copies of each element, or averages over such copies.
int doublings(const Site& site) {
  const auto& a = site.node.attrs<graph::ResizeAttrs>();
  const Shape &in = site.in().shape, &out = site.out().shape;
  for (int n = 1; n <= 3; ++n) {
    const int64_t factor = 1 << n;
    if (out.at(1) != in.at(1) * factor || out.at(2) != in.at(2) * factor) continue;
    // Averages with padding are of bytes.
    if (site.node.kind == graph::OpKind::ResizeBilinear)
      return a.align_corners || a.half_pixel_centers || site.in().type != DataType::Int8 ? 0 : n;
    for (const size_t axis : {size_t{1}, size_t{2}})
      for (int64_t at = 0; at < out.at(axis); ++at)
        if (nearest(at, in.at(axis), out.at(axis), a).low != at / factor) return 0;
    return n;
  }
  return 0;
}

void emit_doublings(Builder& builder, const Node& node, int count) {
  const Site site{builder.module(), builder.function(), node};
  const bool averages = node.kind == graph::OpKind::ResizeBilinear;
  const int64_t images = site.out().shape.at(0);
  for (int64_t n = 0; n < images; ++n) {
    Operand from = image(builder.read(node.inputs.at(0)), n, images);
    const Operand to = image(builder.write(node.outputs.at(0)), n, images);
    from.zero_point = 0;
    for (int i = 0; i < count; ++i) {
      const Extent twice = {from.extent.height * 2, from.extent.width * 2, from.extent.depth};
      const bool last = i + 1 == count;
      Operation pool = builder.start(OperationKind::AveragePool, from,
                                     last ? to : builder.inner("doubled", site.out().type, twice));
      pool.ofm.zero_point = 0;
      pool.upscale = Upscale::Nearest;
      if (last && averages) {
        // A window of `factor` copies holds that number of one element and the rest of the next; at the
        // end, where it leaves the image, only the last one.
        pool.kernel.height = pool.kernel.width = 1 << count;
        pool.pads.bottom = pool.pads.right = (1 << count) - 1;
      } else {
        pool.global_scale = ChannelScale{.multiplier = 1};
      }
      from = pool.ofm;
      builder.emit(std::move(pool));
    }
  }
}

}  // namespace

std::vector<Neighbours> neighbours_along(const Site& site, size_t axis) {
  const auto& a = site.node.attrs<graph::ResizeAttrs>();
  const int64_t in = site.in().shape.at(axis), out = site.out().shape.at(axis);
  std::vector<Neighbours> all;
  for (int64_t at = 0; at < out; ++at)
    all.push_back(site.node.kind == graph::OpKind::ResizeBilinear ? blended(at, in, out, a)
                                                                  : nearest(at, in, out, a));
  return all;
}

// Whether one operation for each pair of a kind of rows and a kind of columns does it: windows with weights of 8 bits.
static bool in_pieces(const Pieces& pieces) {
  if (pieces.y.size() * pieces.x.size() > kMostResizedPieces) return false;
  const auto largest = [](const std::vector<Run>& runs) {
    int64_t tap = 0;
    for (const Run& run : runs)
      tap = std::max(tap, *std::max_element(run.taps.begin(), run.taps.end()));
    return tap;
  };
  return largest(pieces.y) * largest(pieces.x) <= 255;
}

// Whether each axis has one element that is seen everywhere, or stays as it is: a repetition, whichever way neighbours are found. So
// does a network give all places what it has seen of the whole image.
static bool repeats(const Site& site) {
  const Shape &in = site.in().shape, &out = site.out().shape;
  const auto is_simple = [&](size_t axis) {
    if (in.at(axis) != 1 && in.at(axis) != out.at(axis)) return false;
    const std::vector<Neighbours> neighbours = neighbours_along(site, axis);
    for (int64_t at = 0; at < out.at(axis); ++at) {
      const Neighbours& n = neighbours[static_cast<size_t>(at)];
      if (n.low != (in.at(axis) == 1 ? 0 : at) || (n.high != n.low && n.weight != 0)) return false;
    }
    return true;
  };
  return is_simple(1) && is_simple(2) && !refuses_repeats(in, out);
}

Reason refuses_resize(const Site& site) {
  if (site.in().type != site.out().type)
    return fmt::format("the output is {}, the input {}", to_string(site.out().type),
                       to_string(site.in().type));
  if (repeats(site) || doublings(site) != 0) return std::nullopt;
  if (in_pieces(pieces_of(site))) return std::nullopt;
  return refuses_resize_by_lines(site);
}

void legalise_resize(Builder& builder, const Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (repeats(site)) return legalise_repeat(builder, node);
  if (const int count = doublings(site); count != 0) return emit_doublings(builder, node, count);
  const Pieces pieces = pieces_of(site);
  if (!in_pieces(pieces)) return resize_by_lines(builder, node);
  const auto depth = static_cast<int32_t>(site.in().shape.at(3));
  const int64_t images = site.out().shape.at(0);
  for (int64_t n = 0; n < images; ++n)
    for (const Run& y : pieces.y)
      for (const Run& x : pieces.x) {
        const auto rows = static_cast<int32_t>(y.count), columns = static_cast<int32_t>(x.count);
        const auto taps_y = static_cast<int32_t>(y.taps.size());
        const auto taps_x = static_cast<int32_t>(x.taps.size());
        const Operand from = box(image(builder.read(node.inputs.at(0)), n, images),
                                 {static_cast<int32_t>(y.low), static_cast<int32_t>(x.low), 0},
                                 {rows + taps_y - 1, columns + taps_x - 1, depth});
        Operand to = box(image(builder.write(node.outputs.at(0)), n, images),
                         {static_cast<int32_t>(y.first), static_cast<int32_t>(x.first), 0},
                         {rows, columns, depth});
        to.step.height *= static_cast<int32_t>(pieces.factor_y);
        to.step.width *= static_cast<int32_t>(pieces.factor_x);
        if (taps_y * taps_x == 1) {
          builder.copy(from, to);
          continue;
        }
        Operation op = builder.start(OperationKind::Depthwise, from, to);
        op.ifm.zero_point = op.ofm.zero_point = 0;
        op.kernel.height = taps_y;
        op.kernel.width = taps_x;
        Weights weights;
        for (int32_t c = 0; c < depth; ++c)
          for (const int64_t wy : y.taps)
            for (const int64_t wx : x.taps) weights.push_back(static_cast<int16_t>(wy * wx));
        op.weights = std::move(weights);
        // Past 31 bits the shift rounds ties away from zero, as TFLite does here.
        const ChannelScale scale{.multiplier = uint32_t{1} << 31,
                                 .shift = 31 + static_cast<int32_t>(y.shift + x.shift)};
        op.scales.assign(static_cast<size_t>(depth), scale);
        builder.emit(std::move(op));
      }
}

}  // namespace intarsia::targets::ethos_u
